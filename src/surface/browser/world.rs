//! Questions to a page, asked in a world of its own: its scripts cannot change the answers.

use std::time::Duration;

use serde_json::{Value, json};

use super::link::{Link, Stop};

/// What is asked with.
const SCRIPT: &str = include_str!("page.js");

/// The name of the world, seen by nobody but developers.
const NAME: &str = "seechange";

/// A place beside the page's own scripts. It ends when the page goes elsewhere.
#[derive(Default)]
pub(super) struct World {
    context: Option<u64>,
}

impl World {
    /// Calls one of the script's functions; gives what it returns.
    pub(super) fn call(
        &mut self,
        link: &mut Link,
        function: &str,
        arguments: &[Value],
        give_up: Duration,
    ) -> Result<Value, Stop> {
        match self.call_once(link, function, arguments, give_up) {
            // The page has gone elsewhere: its new document has another world.
            Err(Stop::Refused(words)) if is_elsewhere(&words) => {
                self.context = None;
                self.call_once(link, function, arguments, give_up)
            }
            answer => answer,
        }
    }

    fn call_once(
        &mut self,
        link: &mut Link,
        function: &str,
        arguments: &[Value],
        give_up: Duration,
    ) -> Result<Value, Stop> {
        let context = match self.context {
            Some(context) => context,
            None => create(link, give_up)?,
        };
        self.context = Some(context);
        let arguments: Vec<Value> = arguments.iter().map(|value| json!({"value": value})).collect();
        let call = json!({
            "functionDeclaration": format!("(...given) => seechange.{function}(...given)"),
            "executionContextId": context,
            "arguments": arguments,
            "returnByValue": true,
            "awaitPromise": true,
        });
        let answer = link.call("Runtime.callFunctionOn", &call, give_up)?;
        checked(&answer)?;
        Ok(answer["result"]["value"].clone())
    }
}

fn create(link: &mut Link, give_up: Duration) -> Result<u64, Stop> {
    let tree = link.call("Page.getFrameTree", &json!({}), give_up)?;
    let frame = &tree["frameTree"]["frame"]["id"];
    let wanted = json!({"frameId": frame, "worldName": NAME});
    let world = link.call("Page.createIsolatedWorld", &wanted, give_up)?;
    let context = world["executionContextId"].as_u64();
    let context = context.ok_or_else(|| Stop::Refused("the page gives no world".to_owned()))?;
    let script = json!({"expression": SCRIPT, "contextId": context, "returnByValue": false});
    checked(&link.call("Runtime.evaluate", &script, give_up)?)?;
    Ok(context)
}

fn checked(answer: &Value) -> Result<(), Stop> {
    let trouble = &answer["exceptionDetails"];
    let words = trouble["exception"]["description"].as_str().or(trouble["text"].as_str());
    let line = |words: &str| words.lines().next().unwrap_or_default().to_owned();
    words.map_or(Ok(()), |words| Err(Stop::Refused(line(words))))
}

fn is_elsewhere(words: &str) -> bool {
    ["Cannot find context", "context was destroyed", "navigated or closed", "No frame"]
        .iter()
        .any(|known| words.contains(known))
}
