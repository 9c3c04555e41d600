//! The names that lists of a configuration can use, whichever of the tools are compiled in.

toolkit::policy_data! {
    groups: [
        ("fs", &["read", "write", "edit", "apply_patch", "glob", "grep", "skill"]),
        ("runtime", &["exec", "process"]),
        ("web", &["web_search", "web_fetch"]),
        ("ui", &["browser", "canvas"]),
        ("media", &["image", "tts", "transcribe"]),
        ("sessions", &["sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "session_status", "agents_list"]),
        ("messaging", &["message"]),
        ("automation", &["cron", "gateway"]),
        ("nodes", &["nodes"]),
    ],
    profiles: [
        ("minimal", Some(&["session_status"])),
        ("coding", Some(&["group:fs", "group:runtime", "group:sessions"])),
        ("messaging", Some(&["group:messaging", "sessions_list", "sessions_history", "session_status"])),
        ("full", None),
    ],
    aliases: [("bash", "exec"), ("shell", "exec"), ("apply-patch", "apply_patch")],
    names: [],
    planned: ["delegate"],
}
