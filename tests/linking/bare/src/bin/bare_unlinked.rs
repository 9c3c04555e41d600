//! Depends on a plugin that no code mentions.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    toolkit_linking_bare::list_and_greet()
}
