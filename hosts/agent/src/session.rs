//! A conversation with an agent, over one or several runs.

mod journal;

pub(crate) use journal::Journal;

use crate::agent::{Agent, Inner};
use crate::deferral::Deferral;
use crate::events::Observer;
use crate::request::DelegationRequest;
use crate::result::ToolAgentResult;
use crate::steering::Steering;
use crate::transcript::{
    Conversation, DamagedTranscript, Header, HeldOff, Pending, Record, TranscriptError, TranscriptMessage,
    Transcripts, VERSION, new_id, now,
};
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::path::{Path, PathBuf};
use toolkit::{
    Caller, CancellationToken,
    approval::AskingCall,
    events::{Event, Events},
};

/// How a run is done.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// Ends the run at once when it is cancelled. The conversation stays whole and can be resumed.
    pub cancel: CancellationToken,
    /// Gets the events of the run.
    pub observer: Observer,
    /// The id of the run, which its lines in the transcript carry; a new one by default.
    pub run: Option<String>,
    /// The ids of the queued messages that the task holds. They are consumed once its line is on the disk.
    pub consumes: Vec<String>,
    /// Cancelled before `cancel` if the run ends as by a crash, with no end in the transcript.
    pub(crate) interrupt: CancellationToken,
}

impl RunOptions {
    /// Returns options without an observer, and a token that nobody cancels.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the token that ends the run.
    #[must_use]
    pub fn cancel(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// Sets the token that says of a cancellation that it is an interruption.
    pub(crate) fn interrupt(mut self, interrupt: CancellationToken) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// Sets the id of the run.
    #[must_use]
    pub fn run(mut self, id: impl Into<String>) -> Self {
        self.run = Some(id.into());
        self
    }

    /// Adds the id of a queued message that the task holds.
    #[must_use]
    pub fn consumes(mut self, id: impl Into<String>) -> Self {
        self.consumes.push(id.into());
        self
    }

    /// Sets the receiver of the events.
    #[must_use]
    pub fn observer(mut self, observer: impl Into<Observer>) -> Self {
        self.observer = observer.into();
        self
    }
}

impl Agent {
    /// Starts a conversation for this request. Nothing is asked yet; [`Session::run`] does the task.
    ///
    /// # Errors
    ///
    /// The transcript cannot be written.
    pub fn session(&self, request: &DelegationRequest) -> Result<Session, TranscriptError> {
        Session::start(self, request, None)
    }

    /// Starts a conversation of its own that stands below another one: it is listed, with its parent, and can be sent to and resumed like others,
    /// and a [clean-up](Transcripts::clean_up) keeps it as long as its parent.
    ///
    /// # Errors
    ///
    /// There is no transcript of the parent, this agent is a sub-agent, or the transcript cannot be written.
    pub fn session_below(
        &self,
        parent: &str,
        request: &DelegationRequest,
    ) -> Result<Session, TranscriptError> {
        if let Some(delegating) = &self.0.parent {
            let parent = delegating.transcript.clone();
            return Err(TranscriptError::SubAgent { id: parent.clone(), parent });
        }
        let _kept = self.transcripts(parent)?.keep_family(parent)?;
        Session::start(self, request, Some(parent.to_owned()))
    }

    /// Opens a conversation to go on with it. Calls that had started when it was interrupted are reported to the model as interrupted,
    /// and are not repeated; those that waited for an answer and had done nothing yet are begun and asked again by the next run.
    ///
    /// # Errors
    ///
    /// There is no such transcript, another run writes it, it is damaged, it belongs to another workspace, or it is that of a sub-agent.
    pub fn resume(&self, transcript: &str) -> Result<Session, TranscriptError> {
        let removal = self.transcripts(transcript)?.hold_off_removal()?;
        Session::resume(self, transcript, &removal)
    }

    /// Opens a conversation as [`resume`](Self::resume) does, but goes on with a damaged transcript in a fork that has the lines before the
    /// damage: the one that was made when it was opened before, or a new one. [`Session::damage`] tells of it, for the conversation's owner. The
    /// damaged file is left as it is.
    ///
    /// # Errors
    ///
    /// As `resume`, and the first line is damaged, or the fork cannot be written.
    pub fn resume_or_fork(&self, transcript: &str) -> Result<Session, TranscriptError> {
        let mut id = transcript.to_owned();
        let mut damage = None;
        let mut opened = BTreeSet::new();
        // A clean-up removes no damaged transcript, and no fork, before the fork is open.
        let transcripts = self.transcripts(transcript)?;
        let removal = transcripts.hold_off_removal()?;
        let mut held = Vec::new();
        loop {
            let error = match Session::resume(self, &id, &removal) {
                Ok(mut session) => {
                    session.answered_calls.extend(session.calls_of_damaged(&opened));
                    session.damage = damage.map(|(line, reason)| DamagedTranscript {
                        damaged: transcript.to_owned(),
                        line,
                        reason,
                        fork: id,
                    });
                    return Ok(session);
                }
                Err(error) => error,
            };
            match &error {
                // The fork may have been damaged, too.
                TranscriptError::Corrupt { line, reason, .. } if opened.insert(id.clone()) => {
                    damage.get_or_insert_with(|| (*line, reason.clone()));
                    let (fork, damaged) = transcripts.fork_before_damage(&id, &removal)?;
                    held.push(damaged);
                    id = fork;
                }
                _ => return Err(error),
            }
        }
    }

    /// Goes on with a copy of a conversation, up to a message; see [`Transcripts::fork`].
    ///
    /// # Errors
    ///
    /// There is no such transcript or message, the transcript belongs to another workspace, or the copy cannot be written.
    pub fn fork(&self, transcript: &str, message: Option<u64>) -> Result<Session, TranscriptError> {
        let transcripts = self.transcripts(transcript)?;
        check_workspace(self, transcripts.header(transcript).as_ref())?;
        // A clean-up does not remove the copy before it is open.
        let removal = transcripts.hold_off_removal()?;
        Session::resume(self, &transcripts.copy(transcript, message, &removal)?, &removal)
    }

    fn transcripts(&self, id: &str) -> Result<&Transcripts, TranscriptError> {
        let transcripts = self.0.transcripts.as_ref();
        transcripts.ok_or_else(|| TranscriptError::Unknown { id: id.to_owned(), directory: PathBuf::new() })
    }
}

/// A conversation with an agent. Each run adds to it.
pub struct Session {
    pub(crate) agent: Agent,
    pub(crate) journal: Journal,
    pub(crate) header: Header,
    pub(crate) steering: Steering,
    /// The events of the toolkit's session, from the first run on.
    pub(crate) events: Option<Events>,
    /// Files that were changed, in the order of their first change.
    pub(crate) files: Vec<PathBuf>,
    /// The tools that were found, once definitions are deferred.
    pub(crate) deferral: Option<Deferral>,
    /// True if the toolkit's session ends with this one.
    is_owner: bool,
    pub(crate) is_resumed: bool,
    /// The calls that have a result and may have questions in the store of the host.
    pub(crate) answered_calls: Vec<AskingCall>,
    damage: Option<DamagedTranscript>,
}

impl Session {
    fn start(
        agent: &Agent,
        request: &DelegationRequest,
        below: Option<String>,
    ) -> Result<Self, TranscriptError> {
        let Inner { caller, transcripts, parent, .. } = &*agent.0;
        let id = new_id();
        let session = request.session_id.clone().or_else(|| caller.session_id.clone());
        let is_owner = session.is_none();
        let name = request.agent.clone().or_else(|| caller.agent.clone());
        let header = Header {
            version: VERSION,
            session: session.unwrap_or_else(|| format!("agent {id}")),
            id,
            above: agents_above(&named(caller.clone(), name.as_ref())),
            agent: name,
            // A conversation of its own is no sub-agent.
            depth: if below.is_some() { 0 } else { caller.depth },
            workspace: Some(agent.workspace()),
            parent: parent.as_ref().map(|parent| parent.transcript.clone()).or(below),
            parent_turn: parent.as_ref().map(|parent| parent.turn),
            forked_from: None,
            carries: false,
            at: now(),
        };
        let writer = transcripts.as_ref().map(|transcripts| transcripts.create(&header)).transpose()?;
        let redactor = agent.0.toolkit.redactor().clone();
        let journal =
            Journal { writer, conversation: Conversation::default(), redactor, missing: VecDeque::new() };
        Ok(Self::new(agent, journal, header, is_owner))
    }

    fn resume(agent: &Agent, id: &str, removal: &HeldOff<'_>) -> Result<Self, TranscriptError> {
        let transcripts = agent.transcripts(id)?;
        let header = transcripts.header(id);
        if let Some(parent) = header.as_ref().and_then(Header::delegating).cloned() {
            return Err(TranscriptError::SubAgent { id: id.to_owned(), parent });
        }
        // Before a line is written: the transcript stays as it is.
        check_workspace(agent, header.as_ref())?;
        let (writer, loaded) = transcripts.open(id, removal)?;
        // The program ended between the summary and the segment that was to begin after it.
        let begins_segment = matches!(loaded.records.last(), Some(Record::Summarised { .. }));
        let mut files = Vec::new();
        for record in &loaded.records {
            match record {
                Record::Result { files_modified, .. } => {
                    add_files(&mut files, files_modified.iter().cloned());
                }
                Record::Carried(carried) => add_files(&mut files, carried.files_modified.iter().cloned()),
                _ => {}
            }
        }
        let redactor = agent.0.toolkit.redactor().clone();
        let journal = Journal {
            writer: Some(writer),
            conversation: loaded.conversation,
            redactor,
            missing: VecDeque::new(),
        };
        let is_owner = loaded.header.session == format!("agent {}", loaded.header.id);
        let mut session = Self::new(agent, journal, loaded.header, is_owner);
        session.files = files;
        session.is_resumed = true;
        if begins_segment && let Some(begin) = session.journal.segment(&session.header, &session.files)? {
            begin()?;
        }
        let lost = session.journal.conversation.pending().map(|pending| {
            let turn = session.header.turn(pending.answer);
            (pending.answer, pending.lost_but_for(|call| agent.0.recovered(&turn, call)))
        });
        if let Some((answer, lost)) = lost {
            let lost = lost.map_err(|reason| TranscriptError::Unrecovered { id: id.to_owned(), reason })?;
            for (call, output) in lost {
                session.journal.record(&Record::Result {
                    answer,
                    call,
                    output,
                    files_modified: Vec::new(),
                    error: None,
                })?;
            }
        }
        session.answered_calls = session.answered_calls_of(&session.header);
        Ok(session)
    }

    /// The calls that have a result here, as those of a transcript that begins as this one.
    fn answered_calls_of(&self, header: &Header) -> Vec<AskingCall> {
        let (answer, calls) = self.journal.conversation.answered_calls();
        calls.iter().map(|call| header.asking_call(answer, call)).collect()
    }

    /// The calls that have a result here, as those of the damaged transcripts before.
    fn calls_of_damaged(&self, damaged: &BTreeSet<String>) -> Vec<AskingCall> {
        let headers = damaged.iter().filter_map(|id| self.agent.0.transcripts.as_ref()?.header(id));
        headers.flat_map(|header| self.answered_calls_of(&header)).collect()
    }

    /// Begins a segment of the transcript, which is opened without the ones before.
    pub(crate) async fn begin_segment(&self) -> Result<(), TranscriptError> {
        self.journal.begin_segment(&self.header, &self.files).await
    }

    /// Returns true if a call waits for a person, as it did when the program ended.
    pub(crate) fn waits_for_a_person(&self) -> bool {
        self.journal.conversation.pending().is_some_and(Pending::waits_for_a_person)
    }

    fn new(agent: &Agent, journal: Journal, header: Header, is_owner: bool) -> Self {
        Self {
            agent: agent.clone(),
            journal,
            header,
            steering: Steering::default(),
            events: None,
            files: Vec::new(),
            deferral: None,
            is_owner,
            is_resumed: false,
            answered_calls: Vec::new(),
            damage: None,
        }
    }

    /// Returns the caller of this conversation: the agent that its transcript names. The callers above it are those of the agent that goes
    /// on with it and, for a fork, those of the forked conversation. If the agent's own caller has another name, it counts as one of them.
    pub(crate) fn caller(&self) -> Caller {
        let mut caller = self.agent.0.caller.clone();
        // The caller of a sub-agent has them.
        if caller.delegated_by.is_none() {
            for above in &self.header.above {
                caller = named(caller, Some(above));
            }
        }
        caller = named(caller, self.header.agent.as_ref());
        caller.session_id = Some(self.header.session.clone());
        caller
    }

    /// Returns the id of the transcript.
    pub fn id(&self) -> &str {
        &self.header.id
    }

    /// Returns the damage because of which the conversation goes on in a fork.
    pub fn damage(&self) -> Option<&DamagedTranscript> {
        self.damage.as_ref()
    }

    /// Returns the session of the toolkit that the tool calls belong to.
    pub fn toolkit_session(&self) -> &str {
        &self.header.session
    }

    /// Returns the handle by which messages reach a run that goes on.
    pub fn steering(&self) -> Steering {
        self.steering.clone()
    }

    /// Goes on with another agent from the next run on: another model, another approver, other limits.
    pub fn set_agent(&mut self, agent: Agent) {
        self.journal.redactor = agent.0.toolkit.redactor().clone();
        self.agent = agent;
    }

    /// Returns the conversation as the model reads it.
    pub fn messages(&self) -> Vec<TranscriptMessage> {
        let items = self.journal.conversation.items().iter();
        items
            .map(|item| TranscriptMessage { id: item.id, kind: item.kind, message: item.message.clone() })
            .collect()
    }

    /// Returns the id of the run that began and has no end: the program was killed meanwhile. [`go_on`](Self::go_on) with this id ends it. The
    /// id is empty in a transcript of an earlier version.
    pub fn open_run(&self) -> Option<&str> {
        self.journal.conversation.runs.open()
    }

    /// Returns the run that consumed a queued message.
    pub fn consumer(&self, message: &str) -> Option<&str> {
        self.journal.conversation.runs.consumer(message)
    }

    /// Returns the account of one of the last 100 runs that ended, without its steps.
    pub fn end_of(&self, run: &str) -> Option<&ToolAgentResult> {
        self.journal.conversation.runs.end(run)
    }

    /// Returns the files that tool calls of this conversation reported as changed.
    pub fn files_modified(&self) -> &[PathBuf] {
        &self.files
    }

    /// Waits until there is something to [go on](Self::go_on) with: a message of the user, or the end of a background job.
    pub async fn woken(&mut self) {
        loop {
            self.take_events();
            if self.steering.is_waiting() {
                return;
            }
            let steering = self.steering.clone();
            tokio::select! {
                () = steering.arrived() => return,
                event = next(&mut self.events) => match event {
                    Some(event) => queue(&self.steering, &event.event),
                    None => self.events = None,
                },
            }
        }
    }

    fn take_events(&mut self) {
        while let Some(event) = self.events.as_mut().and_then(Events::try_next) {
            queue(&self.steering, &event.event);
        }
    }

    /// Ends the conversation: the transcript is closed, and, if the session of the toolkit is this conversation's own, its background
    /// jobs end.
    pub fn close(self) {
        drop(self);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.events = None;
        if self.is_owner {
            self.agent.0.toolkit.end_session(&self.header.session);
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("id", &self.header.id).finish_non_exhaustive()
    }
}

/// Checks that a transcript belongs to the workspace of an agent: relative paths in it do. A file without a first line passes, and fails
/// when it is opened.
fn check_workspace(agent: &Agent, header: Option<&Header>) -> Result<(), TranscriptError> {
    let Some(Header { id, workspace: Some(workspace), .. }) = header else { return Ok(()) };
    let here = agent.workspace();
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if agent.0.moves || real(workspace) == real(&here) {
        return Ok(());
    }
    Err(TranscriptError::OtherWorkspace { id: id.clone(), workspace: workspace.clone(), here })
}

/// Returns the names of the agents above a caller, the outermost first.
fn agents_above(caller: &Caller) -> Vec<String> {
    let mut names: Vec<String> = caller.chain().skip(1).filter_map(|above| above.agent.clone()).collect();
    names.reverse();
    names
}

/// Returns the caller under the name of an agent. It loses no restriction of the name that it had.
fn named(mut caller: Caller, agent: Option<&String>) -> Caller {
    if caller.agent.is_some() && caller.agent.as_ref() != agent {
        let depth = caller.depth;
        caller = caller.delegated();
        caller.depth = depth;
    }
    caller.agent = agent.cloned();
    caller
}

/// Queues what an event tells the model.
pub(crate) fn queue(steering: &Steering, event: &Event) {
    if let Event::Ended { title, .. } = event {
        steering.job_ended(title.clone());
    }
}

/// The next event; never, where there are none.
pub(crate) async fn next(events: &mut Option<Events>) -> Option<toolkit::events::CallEvent> {
    match events {
        Some(events) => events.next().await,
        None => std::future::pending().await,
    }
}

/// Adds files that are not there yet.
pub(crate) fn add_files(files: &mut Vec<PathBuf>, more: impl IntoIterator<Item = PathBuf>) {
    for file in more {
        if !files.contains(&file) {
            files.push(file);
        }
    }
}
