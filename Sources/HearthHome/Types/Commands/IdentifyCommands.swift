public import HomeModel
public import MatterClusters
internal import MatterModel

// The commands of Identify that have fields, with labels. Application Clusters § 1.2.

extension Trait where C == Identify {
  /// Application Clusters § 1.2.6.1.
  /// - Parameter identifyTime: seconds; 0 ends it.
  public func identify(
    identifyTime: UInt16
  ) async throws(HomeError) {
    try await invoke(Identify.identify, .init(identifyTime: identifyTime))
  }

  /// Application Clusters § 1.2.6.2.
  public func triggerEffect(
    effectIdentifier: Identify.EffectIdentifier, effectVariant: Identify.EffectVariant
  ) async throws(HomeError) {
    try await invoke(Identify.triggerEffect, .init(effectIdentifier: effectIdentifier, effectVariant: effectVariant))
  }
}
