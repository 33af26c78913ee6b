/// The named traits of an endpoint: `type.matterTraits.levelControlTrait`. Each is nil if the endpoint lacks the
/// cluster. Undeclared clusters are in ``TraitCollection``.
public struct MatterTraits: Sendable {
  package let traits: TraitCollection
}
