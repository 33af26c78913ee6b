public import MatterClusters
public import MatterModel
import MatterProtocol

/// The Level Control server: all commands, transitions, and the coupling with On/Off. Application Clusters § 1.6.
public enum LevelControlServer {
  /// Requests switching with a transition. The server reports the switch with ``OnOffServer/switchedByLevel``.
  static let switchRequested = ServerHook<LevelControl, Bool>("switchRequested")
  /// Recalls the level of a scene.
  static let recalled = ServerHook<LevelControl, SceneLevel>("recalled")
  /// Cancels a running fade to off, because On/Off was set by other means.
  static let fadeAbandoned = ServerHook<LevelControl, Void>("fadeAbandoned")

  struct SceneLevel: Sendable {
    var level: UInt8
    var duration: Duration
  }

  /// Returns the server.
  /// - Parameters:
  ///   - features: `onOff` and `lighting` for lights.
  ///   - level: The factory default, 1 to 254.
  public static func make(
    features: [Feature] = [LevelControl.onOff, LevelControl.lighting], level: UInt8 = 254
  ) -> ClusterServer {
    ClusterServer.shared(LevelControl.self, features: features, complete)
      .initial(LevelControl.currentLevel, .value(level))
  }

  private static func complete(_ server: ClusterServer) -> ClusterServer {
    let server =
      server
      .initial(LevelControl.minLevel, 1)
      .initial(LevelControl.maxLevel, 254)
      .serving(
        LevelControl.onOffTransitionTime, LevelControl.onTransitionTime, LevelControl.offTransitionTime,
        LevelControl.defaultMoveRate
      )
      .limiting(LevelControl.currentLevel, from: LevelControl.minLevel, to: LevelControl.maxLevel)
      .limiting(LevelControl.onLevel, from: LevelControl.minLevel, to: LevelControl.maxLevel)
      .limiting(LevelControl.minLevel, to: LevelControl.maxLevel)
      .limiting(LevelControl.maxLevel, from: LevelControl.minLevel)
      .hook(switchRequested) { context, isOn in isOn ? turnOn(&context) : turnOff(&context) }
      .hook(recalled) { context, scene in
        guard LevelTransition.isInRange(scene.level, &context) else { return }
        LevelTransition.start(to: scene.level, over: scene.duration, .scene, &context)
      }
      .hook(fadeAbandoned) { context, _ in
        guard LevelTransition.isFadingOff(context) else { return }
        LevelTransition.start(to: LevelTransition.restLevel(&context), over: .zero, .scene, &context)
      }
      .onChange(LevelControl.currentLevel) { context in
        if !LevelTransition.isScene(context) { context.call(ScenesManagementServer.attributeChanged, ()) }
        if LevelTransition.couplesColor(&context) {
          context.call(ColorControlServer.levelChanged, LevelTransition.level(&context))
        }
      }
      .onTimer(.tick) { context in LevelTransition.advance(&context) }
      .onStart { context in
        let startUp = context.has(LevelControl.lighting) ? context[LevelControl.startUpCurrentLevel].wrapped : nil
        let level = startUp ?? LevelTransition.level(&context)
        context[LevelControl.currentLevel] = .value(LevelTransition.clamp(level, &context))
      }
    return LevelCommands.served(by: server)
  }

  // MARK: Coupling with On/Off, § 1.6.4.1.1

  /// Turns the light on: from the lowest level to OnLevel, or to the previous level without one.
  private static func turnOn(_ context: inout ServerContext) {
    let isOn = context[OnOff.onOff] && !LevelTransition.isFadingOff(context)
    guard context.has(LevelControl.onOff), !isOn else {
      context.call(OnOffServer.switchedByLevel, true)
      return
    }
    let level = context[LevelControl.onLevel].wrapped ?? LevelTransition.restLevel(&context)
    let time = duration(context[LevelControl.onTransitionTime], &context)
    if time > .zero && !LevelTransition.isFadingOff(context) {
      LevelTransition.stop(&context)
      LevelTransition.set(context[LevelControl.minLevel], isReported: false, &context)
    }
    context.call(OnOffServer.switchedByLevel, true)
    LevelTransition.start(to: LevelTransition.clamp(level, &context), over: time, .fadeOn, &context)
  }

  /// Turns the light off: to the lowest level, then off. The previous level is restored unless OnLevel is set.
  private static func turnOff(_ context: inout ServerContext) {
    guard context.has(LevelControl.onOff), context[OnOff.onOff] else {
      context.call(OnOffServer.switchedByLevel, false)
      return
    }
    if LevelTransition.isFadingOff(context) { return }
    let hasOnLevel = context[LevelControl.onLevel].wrapped != nil
    let restores = hasOnLevel ? nil : LevelTransition.restLevel(&context)
    LevelTransition.start(
      to: context[LevelControl.minLevel], over: duration(context[LevelControl.offTransitionTime], &context),
      .fadeOff(restores: restores), &context)
  }

  /// - Parameter time: Tenths of a second; null for OnOffTransitionTime.
  private static func duration(_ time: Nullable<UInt16>, _ context: inout ServerContext) -> Duration {
    .milliseconds(Int64(time.wrapped ?? context[LevelControl.onOffTransitionTime]) * 100)
  }
}
