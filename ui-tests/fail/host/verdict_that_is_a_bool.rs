// errors: 1
use toolkit::inspection::CallbackInspector;

fn main() {
    let _ = CallbackInspector::new(|call| call.tool().name() == "exec");
}
