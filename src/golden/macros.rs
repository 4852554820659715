//! What stands in a test. It panics and writes to stderr in the crate of the test.

/// Asserts that a picture is the golden one of that name.
///
/// `assert_golden!(name, picture)` or `assert_golden!(name, picture, options)`, with a name as
/// `"dialogs/open"`, anything that [becomes a frame](crate::frame::IntoFrame), and
/// [`GoldenOptions`](crate::golden::GoldenOptions), owned or borrowed. Where goldens lie and when
/// they are written is told [there](crate::golden).
///
/// ```no_run
/// # fn draw_button() -> seechange::Frame { seechange::Frame::default() }
/// seechange::assert_golden!("button", draw_button());
/// ```
///
/// # Panics
/// When the picture is another one, when there is no golden and none may be written, and when
/// something cannot be read or written; the message says which, and how to accept the picture.
#[macro_export]
macro_rules! assert_golden {
    ($name:expr, $picture:expr $(,)?) => {
        $crate::assert_golden!($name, $picture, $crate::golden::GoldenOptions::new())
    };
    ($name:expr, $picture:expr, $options:expr $(,)?) => {{
        let options = $options;
        let options: &$crate::golden::GoldenOptions = ::std::borrow::Borrow::borrow(&options);
        let options = options.clone().or_folder($crate::golden_folder!());
        match $crate::golden::check_golden($name, $picture, &options) {
            ::std::result::Result::Ok(check) if check.passes() => {
                if let ::std::option::Option::Some(note) = check.note() {
                    // Past the harness, which keeps what passing tests print to itself. Without a
                    // stderr there is nobody to tell.
                    ::std::mem::drop(::std::io::Write::write_all(
                        &mut ::std::io::stderr(),
                        ::std::format!("{note}\n").as_bytes(),
                    ));
                }
            }
            ::std::result::Result::Ok(check) => ::std::panic!("{check}"),
            ::std::result::Result::Err(error) => ::std::panic!("{error}"),
        }
    }};
}

/// The folder `golden` beside the source file this stands in: where
/// [`assert_golden!`](crate::assert_golden) looks.
#[macro_export]
macro_rules! golden_folder {
    () => {
        $crate::golden::beside(::std::env!("CARGO_MANIFEST_DIR"), ::std::file!())
    };
}
