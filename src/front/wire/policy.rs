//! A policy from a file.

use serde_json::Value;

use crate::act::limits::TEXT_CHARACTERS;
use crate::act::{Glob, KeyPattern, Policy, Refusal};

use super::act::{Fields, is_action_name, region, words};
use super::strict;

const FIELDS: [&str; 11] = [
    "read_only",
    "clipboard",
    "allow_actions",
    "deny_actions",
    "allow_keys",
    "deny_keys",
    "max_text",
    "allow_regions",
    "deny_regions",
    "allow_windows",
    "deny_windows",
];

/// Reads a policy: the bytes of one JSON object.
///
/// # Errors
/// The refusal of what is none: an unknown field, action or key, a key that stands there twice.
pub(crate) fn policy(text: &[u8]) -> Result<Policy, Refusal> {
    let object = strict::object_called("the policy", r#"{"deny_keys":["alt+f4"]}"#, text)?;
    let fields = Fields::of("a policy", object, &FIELDS)?;
    let mut policy = Policy::allow_all();
    if fields.flag("read_only", false)? {
        policy = policy.without_input();
    }
    if !fields.flag("clipboard", true)? {
        policy = policy.without_clipboard();
    }
    if fields.optional("allow_actions").is_some() {
        policy = policy.allow_only(actions(&fields, "allow_actions")?);
    }
    policy = actions(&fields, "deny_actions")?.into_iter().fold(policy, Policy::deny);
    policy = each(&fields, "allow_keys", pattern, policy, Policy::allow_keys)?;
    policy = each(&fields, "deny_keys", pattern, policy, Policy::deny_keys)?;
    policy = each(&fields, "allow_windows", glob, policy, Policy::allow_window)?;
    policy = each(&fields, "deny_windows", glob, policy, Policy::deny_window)?;
    policy = each(&fields, "allow_regions", region, policy, Policy::allow_region)?;
    policy = each(&fields, "deny_regions", region, policy, Policy::deny_region)?;
    if fields.optional("max_text").is_some() {
        let most = u32::try_from(*TEXT_CHARACTERS.end()).unwrap_or(u32::MAX);
        policy = policy.most_characters(fields.whole("max_text", &(0..=most), 0)? as usize);
    }
    Ok(policy)
}

/// Makes sure that an action has that name.
///
/// # Errors
/// When none has.
pub(crate) fn known_action(name: &str) -> Result<String, Refusal> {
    match is_action_name(name) {
        true => Ok(name.to_owned()),
        false => Err(super::act::no_such_action(name)),
    }
}

fn actions(fields: &Fields, field: &str) -> Result<Vec<String>, Refusal> {
    let Some(value) = fields.optional(field) else { return Ok(Vec::new()) };
    words(field, value)?
        .into_iter()
        .map(|name| known_action(name).map_err(|refusal| refusal.inside(field)))
        .collect()
}

/// Every item of a list that may be missing. A list of what is allowed that is empty would allow
/// everything, and is refused.
fn each<T>(
    fields: &Fields,
    field: &str,
    read: impl Fn(&Value) -> Result<T, Refusal>,
    policy: Policy,
    add: impl Fn(Policy, T) -> Policy,
) -> Result<Policy, Refusal> {
    if fields.optional(field).is_none() {
        return Ok(policy);
    }
    let items = fields.items(field)?;
    if items.is_empty() && field.starts_with("allow") {
        let message = format!("{field} is empty: name some, or deny the actions that need them");
        return Err(Refusal::bad_value(message));
    }
    items.iter().try_fold(policy, |policy, item| {
        Ok(add(policy, read(item).map_err(|refusal| refusal.inside(field))?))
    })
}

fn pattern(item: &Value) -> Result<KeyPattern, Refusal> {
    word(item)?.parse()
}

fn glob(item: &Value) -> Result<Glob, Refusal> {
    word(item).map(Glob::new)
}

fn word(item: &Value) -> Result<&str, Refusal> {
    item.as_str().ok_or_else(|| {
        Refusal::bad_value(format!("each must be a string, not {}", strict::kind(item)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_reads_back() {
        let rect = |text: &str| text.parse().unwrap();
        let keys = |text: &str| text.parse().unwrap();
        for (text, expected) in [
            ("{}", Policy::allow_all()),
            (r#"{"read_only":true}"#, Policy::read_only()),
            (r#"{"clipboard":false}"#, Policy::allow_all().without_clipboard()),
            (r#"{"read_only":false,"allow_actions":[]}"#, Policy::allow_all().allow_only([""; 0])),
            (
                r#"{"allow_actions":["click","key"],"deny_actions":["drag"],"max_text":200,
                    "allow_keys":["ctrl+*"],"deny_keys":["alt+f4","win+*"],
                    "allow_regions":[{"x":0,"y":0,"width":640,"height":400}],
                    "deny_regions":[{"x":1,"y":2,"width":3,"height":4}],
                    "allow_windows":["*notes*"],"deny_windows":["mail","*bank*"]}"#,
                Policy::allow_all()
                    .allow_only(["key", "click"])
                    .deny("drag")
                    .most_characters(200)
                    .allow_keys(keys("ctrl+*"))
                    .deny_keys(keys("alt+f4"))
                    .deny_keys(keys("super+*"))
                    .allow_region(rect("0,0,640,400"))
                    .deny_region(rect("1,2,3,4"))
                    .allow_window(Glob::new("*notes*"))
                    .deny_window(Glob::new("mail"))
                    .deny_window(Glob::new("*bank*")),
            ),
        ] {
            assert_eq!(policy(text.as_bytes()).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_policy_says_why() {
        for (text, message) in [
            ("", "the policy is no valid JSON: EOF while parsing a value at column 0"),
            (
                r#"{"denied":[]}"#,
                "a policy has no field 'denied': it takes read_only, clipboard, allow_actions, deny_actions, \
                 allow_keys, deny_keys, max_text, allow_regions, deny_regions, allow_windows, \
                 deny_windows",
            ),
            (
                r#"{"deny_keys":["a"],"deny_keys":[]}"#,
                "the policy is no valid JSON: the key 'deny_keys' stands there twice at column 30",
            ),
            (r#"{"read_only":1}"#, "read_only must be true or false, not 1"),
            (
                r#"{"deny_actions":"click"}"#,
                "deny_actions must be an array of strings, not a string",
            ),
            (r#"{"deny_keys":"alt+f4"}"#, "deny_keys must be an array, not a string"),
            (r#"{"deny_keys":null}"#, "deny_keys must be an array, not null"),
            (r#"{"deny_keys":[4]}"#, "deny_keys: each must be a string, not a number"),
            (
                r#"{"allow_keys":[]}"#,
                "allow_keys is empty: name some, or deny the actions that need them",
            ),
            (r#"{"deny_windows":[{}]}"#, "deny_windows: each must be a string, not an object"),
            (r#"{"max_text":2001}"#, "max_text must be 0 to 2000, not 2001"),
            (r#"{"max_text":"9"}"#, "max_text must be a whole number, not a string"),
            (
                r#"{"deny_regions":["0,0,1,1"]}"#,
                "deny_regions: region must be an {x, y, width, height}, not a string",
            ),
        ] {
            assert_eq!(policy(text.as_bytes()).unwrap_err().message(), message, "{text}");
        }
        for (text, start) in [
            (
                r#"{"deny_actions":["clik"]}"#,
                "deny_actions: there is no action 'clik': use observe,",
            ),
            (r#"{"deny_keys":["alt+"]}"#, "deny_keys: there is no key ''"),
        ] {
            let refusal = policy(text.as_bytes()).unwrap_err();
            assert!(refusal.message().starts_with(start), "{refusal}");
        }
    }
}
