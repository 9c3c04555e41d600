// errors: 3
use toolkit::{Builder, Toolbox};
use toolkit::Toolkit;
use toolkit::policy::ToolPolicy;

fn main() {}
