public import HomeModel
public import MatterClusters
internal import MatterModel

// The commands of Level Control that have fields, with labels. Application Clusters § 1.6.

extension Trait where C == LevelControl {
  /// Application Clusters § 1.6.7.1.
  /// - Parameters:
  ///   - level: 0 to 254.
  ///   - transitionTime: tenths of a second; nil: as the device is set to.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func moveToLevel(
    level: UInt8, transitionTime: UInt16? = nil, optionsMask: LevelControl.Options = [],
    optionsOverride: LevelControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      LevelControl.moveToLevel,
      .init(
        level: level, transitionTime: Nullable(transitionTime), optionsMask: optionsMask,
        optionsOverride: optionsOverride))
  }

  /// Application Clusters § 1.6.7.2.
  /// - Parameters:
  ///   - rate: levels a second; nil: as the device is set to.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func move(
    moveMode: LevelControl.MoveMode, rate: UInt8? = nil, optionsMask: LevelControl.Options = [],
    optionsOverride: LevelControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      LevelControl.move,
      .init(moveMode: moveMode, rate: Nullable(rate), optionsMask: optionsMask, optionsOverride: optionsOverride))
  }

  /// Application Clusters § 1.6.7.3.
  /// - Parameters:
  ///   - stepSize: levels.
  ///   - transitionTime: tenths of a second; nil: as the device is set to.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func step(
    stepMode: LevelControl.StepMode, stepSize: UInt8, transitionTime: UInt16? = nil,
    optionsMask: LevelControl.Options = [], optionsOverride: LevelControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      LevelControl.step,
      .init(
        stepMode: stepMode, stepSize: stepSize, transitionTime: Nullable(transitionTime), optionsMask: optionsMask,
        optionsOverride: optionsOverride))
  }

  /// Application Clusters § 1.6.7.4.
  /// - Parameter optionsMask: which options `optionsOverride` sets for this command alone.
  public func stop(
    optionsMask: LevelControl.Options = [], optionsOverride: LevelControl.Options = []
  ) async throws(HomeError) {
    try await invoke(LevelControl.stop, .init(optionsMask: optionsMask, optionsOverride: optionsOverride))
  }

  /// Application Clusters § 1.6.7.1.
  /// - Parameters:
  ///   - level: 0 to 254.
  ///   - transitionTime: tenths of a second; nil: as the device is set to.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func moveToLevelWithOnOff(
    level: UInt8, transitionTime: UInt16? = nil, optionsMask: LevelControl.Options = [],
    optionsOverride: LevelControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      LevelControl.moveToLevelWithOnOff,
      .init(
        level: level, transitionTime: Nullable(transitionTime), optionsMask: optionsMask,
        optionsOverride: optionsOverride))
  }

  /// Application Clusters § 1.6.7.2.
  /// - Parameters:
  ///   - rate: levels a second; nil: as the device is set to.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func moveWithOnOff(
    moveMode: LevelControl.MoveMode, rate: UInt8? = nil, optionsMask: LevelControl.Options = [],
    optionsOverride: LevelControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      LevelControl.moveWithOnOff,
      .init(moveMode: moveMode, rate: Nullable(rate), optionsMask: optionsMask, optionsOverride: optionsOverride))
  }

  /// Application Clusters § 1.6.7.3.
  /// - Parameters:
  ///   - stepSize: levels.
  ///   - transitionTime: tenths of a second; nil: as the device is set to.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func stepWithOnOff(
    stepMode: LevelControl.StepMode, stepSize: UInt8, transitionTime: UInt16? = nil,
    optionsMask: LevelControl.Options = [], optionsOverride: LevelControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      LevelControl.stepWithOnOff,
      .init(
        stepMode: stepMode, stepSize: stepSize, transitionTime: Nullable(transitionTime), optionsMask: optionsMask,
        optionsOverride: optionsOverride))
  }

  /// Application Clusters § 1.6.7.4.
  /// - Parameter optionsMask: which options `optionsOverride` sets for this command alone.
  public func stopWithOnOff(
    optionsMask: LevelControl.Options = [], optionsOverride: LevelControl.Options = []
  ) async throws(HomeError) {
    try await invoke(LevelControl.stopWithOnOff, .init(optionsMask: optionsMask, optionsOverride: optionsOverride))
  }

  /// Application Clusters § 1.6.7.5.
  /// - Parameter frequency: hertz.
  public func moveToClosestFrequency(
    frequency: UInt16
  ) async throws(HomeError) {
    try await invoke(LevelControl.moveToClosestFrequency, .init(frequency: frequency))
  }
}
