//! The pictures conditions are about: what stood in an observation, or a file of the one folder a
//! server was given. No other file is read.

use std::collections::VecDeque;
use std::path::{Component, Path};

use serde_json::{Map, Value};

use crate::act::{Observation, ObservationId, Refusal, RefusalKind, quoted};
use crate::frame::{self, Frame};
use crate::front::wire;

/// How many observations are kept to be named again.
const KEPT: usize = 16;

/// The bytes of their frames, of which the two latest are kept in any case.
const KEPT_BYTES: usize = 256 << 20;

/// The latest observations of a session.
#[derive(Default)]
pub(super) struct Observations(VecDeque<Observation>);

impl Observations {
    /// Keeps an observation, and no more than there is room for.
    pub(super) fn keep(&mut self, observation: &Observation) {
        if self.0.back().is_some_and(|last| last.id == observation.id) {
            return;
        }
        self.0.push_back(observation.clone());
        while self.0.len() > 2 && (self.0.len() > KEPT || self.bytes() > KEPT_BYTES) {
            self.0.pop_front();
        }
    }

    fn bytes(&self) -> usize {
        self.0.iter().map(|kept| kept.frame.data().len()).sum()
    }

    /// The observation of an id.
    pub(super) fn named(&self, id: ObservationId) -> Result<&Observation, Refusal> {
        self.0.iter().find(|kept| kept.id == id).ok_or_else(|| {
            let kept: Vec<String> = self.0.iter().map(|kept| kept.id.to_string()).collect();
            let message = match kept.as_slice() {
                [] => format!("{id} is not kept: observe first"),
                kept => format!("{id} is not kept: there are {}", kept.join(", ")),
            };
            Refusal::new(RefusalKind::UnknownObservation, message)
        })
    }

    /// The picture that stands in a condition's `image`: a part of an observation, or a file of
    /// `folder`.
    pub(super) fn image(&self, value: &Value, folder: Option<&Path>) -> Result<Frame, Refusal> {
        match (value, folder) {
            (Value::Object(part), _) => self.part(part),
            (Value::String(name), Some(folder)) => file(name, folder),
            (Value::String(_), None) => Err(Refusal::bad_value(
                "image must be a part of an observation, such as {\"observation\":\"obs-3\",\
                 \"region\":{\"x\":0,\"y\":0,\"width\":9,\"height\":9}}: this server reads no \
                 files (it does when started with --images DIR)",
            )),
            (other, _) => Err(Refusal::bad_value(format!(
                "image must be a part of an observation, not {}",
                wire::strict::kind(other)
            ))),
        }
    }

    fn part(&self, part: &Map<String, Value>) -> Result<Frame, Refusal> {
        let known = ["observation", "region"];
        if let Some(field) = part.keys().find(|field| !known.contains(&field.as_str())) {
            let message =
                format!("image has no field {}: it takes observation, region", quoted(field));
            return Err(Refusal::new(RefusalKind::UnknownField, message));
        }
        let Some(Value::String(id)) = part.get("observation") else {
            return Err(Refusal::bad_value("image needs the id of an observation, such as obs-3"));
        };
        let observation = self.named(id.parse()?)?;
        let Some(region) = part.get("region") else {
            return Ok(observation.frame.as_ref().clone());
        };
        let rect = observation.locate_region(wire::act::region(region)?)?;
        observation.frame.crop(rect).map_err(|error| Refusal::bad_value(error.to_string()))
    }
}

/// A picture of the folder itself, wherever its name may lead.
fn file(name: &str, folder: &Path) -> Result<Frame, Refusal> {
    let outside =
        || Refusal::bad_value("image must be the name of a file in the folder of --images");
    let mut parts = Path::new(name).components();
    let (Some(Component::Normal(_)), None) = (parts.next(), parts.next()) else {
        return Err(outside());
    };
    let cannot = || Refusal::bad_value(format!("image {} cannot be read", quoted(name)));
    let folder = folder.canonicalize().map_err(|_| cannot())?;
    let path = folder.join(name).canonicalize().map_err(|_| cannot())?;
    if path.parent() != Some(&folder) {
        return Err(outside());
    }
    frame::read(&path).map_err(|_| cannot())
}

/// `matches` compares a place: where none is named, the one its picture was taken from.
pub(super) fn place_matches(request: &mut Map<String, Value>) {
    if request.get("action").and_then(Value::as_str) == Some("wait_for") {
        place_conditions(request);
    }
    if let Some(Value::Object(postcondition)) = request.get_mut("postcondition") {
        place_conditions(postcondition);
    }
}

fn place_conditions(fields: &mut Map<String, Value>) {
    place(fields);
    if let Some(Value::Array(any)) = fields.get_mut("any") {
        any.iter_mut().filter_map(Value::as_object_mut).for_each(place);
    }
}

fn place(condition: &mut Map<String, Value>) {
    let is_matches = condition.get("condition").and_then(Value::as_str) == Some("matches");
    let region = condition.get("image").and_then(|image| image.get("region")).cloned();
    if let Some(region) = region.filter(|_| is_matches && !condition.contains_key("region")) {
        condition.insert("region".to_owned(), region);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{PixelFormat, write_png};
    use crate::geometry::Size;
    use crate::wait::Geometry;
    use serde_json::json;
    use std::sync::Arc;
    use std::time::Duration;

    fn observation(number: u64, edge: u32) -> Observation {
        let size = Size::new(edge, edge).unwrap();
        Observation {
            id: ObservationId::new(number),
            frame: Arc::new(Frame::filled(size, PixelFormat::Rgba, [7; 4])),
            at: Duration::ZERO,
            geometry: Geometry { size, scale: 1.0, origin: (0, 0) },
            image: Size::new(edge / 2, edge / 2).unwrap(),
            elements: None,
        }
    }

    #[test]
    fn the_latest_observations_are_kept() {
        let mut kept = Observations::default();
        for number in [1, 1, 2] {
            kept.keep(&observation(number, 10));
        }
        assert_eq!(kept.0.len(), 2);
        (3..=20).for_each(|number| kept.keep(&observation(number, 10)));
        assert_eq!(kept.0.len(), KEPT);
        let error = kept.named(ObservationId::new(4)).unwrap_err();
        assert!(error.message().starts_with("obs-4 is not kept: there are obs-5, "), "{error}");
        // Frames of 144 MB: two of them are over the limit, and kept all the same.
        (21..=23).for_each(|number| kept.keep(&observation(number, 6000)));
        assert_eq!(
            kept.0.iter().map(|kept| kept.id).collect::<Vec<_>>(),
            [22, 23].map(ObservationId::new)
        );
    }

    #[test]
    fn pictures_come_from_observations_and_from_one_folder() {
        let (root, mut kept) = (tempfile::tempdir().unwrap(), Observations::default());
        kept.keep(&observation(3, 40));
        let folder = root.path().join("images");
        std::fs::create_dir(&folder).unwrap();
        let frame = Frame::filled(Size::new(4, 3).unwrap(), PixelFormat::Rgba, [7; 4]);
        for path in [folder.join("a.png"), root.path().join("secret.png")] {
            write_png(&path, &frame).unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("../secret.png", folder.join("link.png")).unwrap();
        let part = |x, width| json!({"observation": "obs-3", "region": {"x": x, "y": 0, "width": width, "height": 1}});
        for (image, size) in [
            (json!({"observation": "obs-3"}), Ok((40, 40))),
            (part(0, 5), Ok((10, 2))),
            (part(18, 5), Err("region")),
            (json!({"observation": "obs-3", "path": "x"}), Err("image has no field 'path'")),
            (json!({"observation": "obs-4"}), Err("obs-4 is not kept: there are obs-3")),
            (json!({}), Err("image needs the id")),
            (json!(7), Err("image must be a part of an observation, not a number")),
            (json!("a.png"), Ok((4, 3))),
            (json!("b.png"), Err("image 'b.png' cannot be read")),
            (json!("../secret.png"), Err("image must be the name of a file")),
            (json!("link.png"), Err("image must be the name of a file")),
            (json!("/etc/passwd"), Err("image must be the name of a file")),
            (json!(".."), Err("image must be the name of a file")),
        ] {
            match (kept.image(&image, Some(&folder)), size) {
                (Ok(frame), Ok((width, height))) => {
                    assert_eq!(frame.size(), Size::new(width, height).unwrap(), "{image}");
                }
                (Err(refusal), Err(told)) => {
                    assert!(refusal.message().starts_with(told), "{refusal}")
                }
                (got, _) => panic!("{image}: {got:?}"),
            }
        }
        let refusal = kept.image(&json!("a.png"), None).unwrap_err();
        assert!(refusal.message().contains("reads no files"), "{refusal}");
    }

    #[test]
    fn matches_is_about_the_place_its_picture_is_from() {
        let region = json!({"x": 1, "y": 2, "width": 3, "height": 4});
        let image = json!({"observation": "obs-1", "region": region});
        let own = json!({"x": 9, "y": 9, "width": 3, "height": 4});
        let mut request = json!({"action": "wait_for", "any": [
            {"condition": "matches", "image": image},
            {"condition": "appears", "image": image},
            {"condition": "matches", "image": image, "region": own},
        ]});
        place_matches(request.as_object_mut().unwrap());
        let regions: Vec<&Value> = (0..3).map(|nth| &request["any"][nth]["region"]).collect();
        assert_eq!(regions, [&region, &Value::Null, &own]);
    }
}
