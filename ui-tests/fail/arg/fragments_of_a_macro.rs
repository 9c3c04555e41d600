// errors: 8
use toolkit::prelude::*;

macro_rules! reads {
    ($name:ident($($rule:tt)*)) => {
        reads!(@ $name $($rule)*);
    };
    (@ $name:ident range ..= $end:expr) => { reads!(! $name range(1..=$end)); };
    (@ $name:ident range $range:expr) => { reads!(! $name range($range)); };
    (@ $name:ident length $range:expr) => { reads!(! $name length($range)); };
    (@ $name:ident default $value:expr) => { reads!(! $name default = $value); };
    (@ $name:ident example $value:expr) => { reads!(! $name example = $value); };
    (! $name:ident $($rule:tt)*) => {
        /// Reads lines.
        #[tool]
        fn $name(start: u8, #[arg($($rule)*)] lines: u8) -> u32 {
            u32::from(start) + u32::from(lines)
        }
    };
}

reads!(read1(range ..= "a"));
reads!(read2(range 9..=1));
reads!(read3(range ..= 300));
reads!(read4(range 5));
reads!(read5(length -1));
reads!(read6(default "a"));
reads!(read7(example 1.5));
reads!(read8(default start));

fn main() {}
