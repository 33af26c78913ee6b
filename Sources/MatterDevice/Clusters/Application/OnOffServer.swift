public import MatterClusters
public import MatterModel
import MatterProtocol

/// The On/Off server, optionally with the Lighting feature. Application Clusters § 1.5.
public enum OnOffServer {
  /// Level Control switches on or off at its level, without a call back to Level Control.
  static let switchedByLevel = ServerHook<OnOff, Bool>("switchedByLevel")
  /// Recalls the state of a scene.
  static let recalled = ServerHook<OnOff, SceneSwitch>("recalled")

  struct SceneSwitch: Sendable {
    var isOn: Bool
    /// The transition time of the scene. The light turns on at its start, and off at its end.
    var duration: Duration
  }

  /// Returns the server.
  /// - Parameters:
  ///   - features: `lighting` for lights and plugs.
  ///   - isOn: The factory default.
  public static func make(features: [Feature] = [OnOff.lighting], isOn: Bool = false) -> ClusterServer {
    ClusterServer.shared(OnOff.self, features: features) { complete($0, features) }.initial(OnOff.onOff, isOn)
  }

  private static func complete(_ server: ClusterServer, _ features: [Feature]) -> ClusterServer {
    var server =
      server
      .on(OnOff.off) { context, _ throws(StatusError) in turnOff(&context) }
      .hook(switchedByLevel) { context, isOn in setState(isOn, &context) }
      .hook(recalled) { context, scene in recall(scene, &context) }
      .onTimer(.sceneEnd) { context in
        if context[scratch: PendingOff.self] != nil { setStateByScene(false, &context) }
      }
      .onChange(OnOff.onOff) { context in
        if context[scratch: ByScene.self] == nil { context.call(ScenesManagementServer.attributeChanged, ()) }
        // For every cause of the change: one at the device does not pass through the commands.
        updateLightingAttributes(&context)
        context.call(ThermostatServer.switched, ())
        context.call(FanControlServer.switched, ())
      }
    if !features.contains(OnOff.offOnly) {
      server =
        server
        .on(OnOff.on) { context, _ throws(StatusError) in turnOn(&context) }
        .on(OnOff.toggle) { context, _ throws(StatusError) in
          if context[OnOff.onOff] { turnOff(&context) } else { turnOn(&context) }
        }
    }
    return features.contains(OnOff.lighting) ? lighting(server) : server
  }

  // MARK: On and off

  /// Turns on. If Level Control is served, it runs the transition and reports the switch (§ 1.6.4.1.1).
  static func turnOn(_ context: inout ServerContext) {
    if !context.call(LevelControlServer.switchRequested, true) { setState(true, &context) }
  }

  static func turnOff(_ context: inout ServerContext) {
    if context.has(OnOff.lighting) { context[OnOff.onTime] = 0 }
    if !context.call(LevelControlServer.switchRequested, false) { setState(false, &context) }
  }

  /// Sets the state. The effects of a command occur even if the state does not change.
  private static func setState(_ isOn: Bool, _ context: inout ServerContext) {
    if context[scratch: PendingOff.self] != nil {
      context[scratch: PendingOff.self] = nil
      context.cancel(.sceneEnd)
      // The pending off of the scene will not happen.
      if isOn && context[scratch: ByScene.self] == nil { context.call(ScenesManagementServer.attributeChanged, ()) }
    }
    if context[OnOff.onOff] != isOn {
      // The handler of the change updates the attributes of the Lighting feature.
      context[OnOff.onOff] = isOn
    } else {
      updateLightingAttributes(&context)
    }
  }

  /// Updates the attributes of the Lighting feature that depend on the state.
  private static func updateLightingAttributes(_ context: inout ServerContext) {
    guard context.has(OnOff.lighting) else { return }
    if context[OnOff.onOff] {
      context[OnOff.globalSceneControl] = true
      if context[OnOff.onTime] == 0 { context[OnOff.offWaitTime] = 0 }
    } else {
      context[OnOff.onTime] = 0
      OnOffCountdown.start(&context)
    }
  }

  // MARK: Scenes

  /// Present while a scene delays turning off until the end of its transition.
  private struct PendingOff: Sendable {}
  /// Present while a scene sets the state, which does not invalidate the scene.
  private struct ByScene: Sendable {}

  private static func recall(_ scene: SceneSwitch, _ context: inout ServerContext) {
    context.call(LevelControlServer.fadeAbandoned, ())
    if scene.isOn || scene.duration <= .zero || !context[OnOff.onOff] {
      setStateByScene(scene.isOn, &context)
    } else {
      context[scratch: PendingOff.self] = PendingOff()
      context.schedule(.sceneEnd, at: context.now + scene.duration)
    }
  }

  private static func setStateByScene(_ isOn: Bool, _ context: inout ServerContext) {
    context[scratch: ByScene.self] = ByScene()
    setState(isOn, &context)
    context[scratch: ByScene.self] = nil
  }

  // MARK: Lighting

  private static func lighting(_ server: ClusterServer) -> ClusterServer {
    server
      .on(OnOff.offWithEffect) { context, request throws(StatusError) in
        // An unknown variant means the effect's default one (§ 1.5.7.4.2); no attribute depends on the variant.
        guard request.effectIdentifier.isKnown else { throw StatusError(.constraintError) }
        if context[OnOff.globalSceneControl] {
          context.call(ScenesManagementServer.storeGlobalScene, ())
          context[OnOff.globalSceneControl] = false
        }
        turnOff(&context)
      }
      .on(OnOff.onWithRecallGlobalScene) { context, _ throws(StatusError) in
        guard !context[OnOff.globalSceneControl] else { return }
        context.call(ScenesManagementServer.recallGlobalScene, ())
        turnOn(&context)
      }
      .on(OnOff.onWithTimedOff, onWithTimedOff)
      .onChange(OnOff.onTime) { context in OnOffCountdown.stopIfFinished(&context) }
      .onChange(OnOff.offWaitTime) { context in OnOffCountdown.stopIfFinished(&context) }
      .onTimer(.tick) { context in OnOffCountdown.advance(&context) }
      .onStart { context in
        switch context[OnOff.startUpOnOff] {
        case .value(.off): context[OnOff.onOff] = false
        case .value(.on): context[OnOff.onOff] = true
        case .value(.toggle): context[OnOff.onOff].toggle()
        default: break
        }
      }
  }

  private static func onWithTimedOff(_ context: inout ServerContext, _ request: OnOff.OnWithTimedOffRequest) {
    let isOn = context[OnOff.onOff]
    if request.onOffControl.contains(.acceptOnlyWhenOn) && !isOn { return }
    if !isOn && context[OnOff.offWaitTime] > 0 {
      // Delayed off: the light stays off; the wait can only become shorter.
      context[OnOff.offWaitTime] = min(context[OnOff.offWaitTime], request.offWaitTime)
    } else {
      context[OnOff.onTime] = max(context[OnOff.onTime], request.onTime)
      turnOn(&context)
      context[OnOff.offWaitTime] = request.offWaitTime
    }
    OnOffCountdown.start(&context)
  }
}
