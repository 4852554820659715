//! Two tests of one process with one golden, which would overwrite one another's pictures.

use std::collections::HashMap;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

use crate::error::{Error, Result};

/// Who checks a golden.
#[derive(Clone, Debug)]
struct Claim {
    test: String,
    at: &'static Location<'static>,
}

static CLAIMS: LazyLock<Mutex<HashMap<PathBuf, Claim>>> = LazyLock::new(Mutex::default);

/// Notes that this test checks `golden`. The same test may do so again, to say that something looks
/// as it did before.
///
/// The test harness gives each test a thread of its name; on a thread that has none nothing is
/// known and nothing noted.
///
/// # Errors
/// When another test has checked it.
pub(super) fn claim(golden: &Path, at: &'static Location<'static>) -> Result<()> {
    let Some(test) = test_name() else { return Ok(()) };
    // Where case does not count in names, neither does it here.
    let key = PathBuf::from(golden.to_string_lossy().to_lowercase());
    let mut claims = CLAIMS.lock().unwrap_or_else(PoisonError::into_inner);
    let claim = claims.entry(key).or_insert_with(|| Claim { test: test.clone(), at });
    if claim.test == test {
        return Ok(());
    }
    Err(Error::usage(format!(
        "is checked by two tests, {} ({}:{}) and {test} ({}:{}), which would overwrite one \
         another's pictures: give one another name",
        claim.test,
        claim.at.file(),
        claim.at.line(),
        at.file(),
        at.line()
    )))
}

/// The path of the test that runs on this thread, if the thread has the name of one: workers of a
/// runtime (`tokio-runtime-worker`) and the main thread have not.
pub(super) fn test_name() -> Option<String> {
    let thread = thread::current();
    let name = thread.name().filter(|name| *name != "main")?;
    let is_path = name.split("::").all(|part| {
        !part.is_empty() && part.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    });
    is_path.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_thread(name: &str, golden: &'static str) -> Result<()> {
        let here = Location::caller();
        let run = move || claim(Path::new(golden), here);
        thread::Builder::new().name(name.to_owned()).spawn(run).unwrap().join().unwrap()
    }

    #[test]
    fn two_tests_with_one_golden_are_named() {
        assert!(on_thread("menu::opens", "claims/a.png").is_ok());
        assert!(on_thread("menu::opens", "claims/a.png").is_ok());
        assert!(on_thread("menu::closes", "claims/b.png").is_ok());
        assert!(on_thread("tokio-runtime-worker", "claims/a.png").is_ok());
        assert!(on_thread("main", "claims/a.png").is_ok());
        let message = on_thread("menu::closes", "claims/A.png").unwrap_err().to_string();
        assert!(message.starts_with("is checked by two tests, menu::opens (src"), "{message}");
        assert!(message.contains(" and menu::closes (src"), "{message}");
    }
}
