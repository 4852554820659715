//! Things that can be seen and driven, one module and one cargo feature each.
