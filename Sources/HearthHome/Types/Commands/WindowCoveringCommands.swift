public import HomeModel
public import MatterClusters
internal import MatterModel

// The commands of Window Covering that have fields, with labels. Application Clusters § 5.3.

extension Trait where C == WindowCovering {
  /// Application Clusters § 5.3.7.4.
  /// - Parameter liftValue: centimetres.
  public func goToLiftValue(
    liftValue: UInt16
  ) async throws(HomeError) {
    try await invoke(WindowCovering.goToLiftValue, .init(liftValue: liftValue))
  }

  /// Application Clusters § 5.3.7.5.
  /// - Parameter liftPercent100thsValue: hundredths of a percent; 0 is open, 10000 closed.
  public func goToLiftPercentage(
    liftPercent100thsValue: UInt16
  ) async throws(HomeError) {
    try await invoke(WindowCovering.goToLiftPercentage, .init(liftPercent100thsValue: liftPercent100thsValue))
  }

  /// Application Clusters § 5.3.7.6.
  /// - Parameter tiltValue: tenths of a degree.
  public func goToTiltValue(
    tiltValue: UInt16
  ) async throws(HomeError) {
    try await invoke(WindowCovering.goToTiltValue, .init(tiltValue: tiltValue))
  }

  /// Application Clusters § 5.3.7.7.
  /// - Parameter tiltPercent100thsValue: hundredths of a percent; 0 is open, 10000 closed.
  public func goToTiltPercentage(
    tiltPercent100thsValue: UInt16
  ) async throws(HomeError) {
    try await invoke(WindowCovering.goToTiltPercentage, .init(tiltPercent100thsValue: tiltPercent100thsValue))
  }
}
