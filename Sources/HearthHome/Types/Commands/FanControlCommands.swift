public import HomeModel
public import MatterClusters
internal import MatterModel

// The commands of Fan Control that have fields, with labels. Application Clusters § 4.4.

extension Trait where C == FanControl {
  /// Application Clusters § 4.4.7.1.
  public func step(
    direction: FanControl.StepDirection, wrap: Bool? = nil, lowestOff: Bool? = nil
  ) async throws(HomeError) {
    try await invoke(FanControl.step, .init(direction: direction, wrap: wrap, lowestOff: lowestOff))
  }
}
