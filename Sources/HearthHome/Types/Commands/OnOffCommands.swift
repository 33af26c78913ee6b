public import HomeModel
public import MatterClusters
internal import MatterModel

// The commands of On/Off that have fields, with labels. Application Clusters § 1.5.

extension Trait where C == OnOff {
  /// Application Clusters § 1.5.7.4.
  public func offWithEffect(
    effectIdentifier: OnOff.EffectIdentifier, effectVariant: UInt8
  ) async throws(HomeError) {
    try await invoke(OnOff.offWithEffect, .init(effectIdentifier: effectIdentifier, effectVariant: effectVariant))
  }

  /// Application Clusters § 1.5.7.6.
  /// - Parameters:
  ///   - onTime: tenths of a second.
  ///   - offWaitTime: tenths of a second.
  public func onWithTimedOff(
    onOffControl: OnOff.OnOffControl, onTime: UInt16, offWaitTime: UInt16
  ) async throws(HomeError) {
    try await invoke(OnOff.onWithTimedOff, .init(onOffControl: onOffControl, onTime: onTime, offWaitTime: offWaitTime))
  }
}
