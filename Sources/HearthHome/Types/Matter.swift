/// The traits of the clusters of the specification; `Matter.OnOffTrait` is `OnOffTrait`.
public enum Matter {}
