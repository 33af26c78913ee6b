public import MatterClusters
public import MatterModel
import MatterProtocol

/// Behaviour of On/Off, with the lighting feature where it is asked for. Application Clusters § 1.5.
public enum OnOffServer {
  /// Level Control switches with its level: nothing goes back to it.
  static let switchedByLevel = ServerHook<OnOff, Bool>("switchedByLevel")
  /// A scene wants this state.
  static let recalled = ServerHook<OnOff, SceneSwitch>("recalled")

  struct SceneSwitch: Sendable {
    var isOn: Bool
    /// How long the endpoint takes to become like the scene: it comes on at the beginning, and goes off at the end.
    var duration: Duration
  }

  private static let sceneEnd = "end of scene transition"

  /// - Parameters:
  ///   - features: `lighting` for lights and plugs.
  ///   - isOn: the state out of the box.
  public static func make(features: [Feature] = [OnOff.lighting], isOn: Bool = false) -> ClusterServer {
    var server = ClusterServer(OnOff.self, features: features)
      .initial(OnOff.onOff, isOn)
      .on(OnOff.off) { context, _ throws(StatusError) in turnOff(&context) }
      .hook(switchedByLevel) { context, isOn in setState(isOn, &context) }
      .hook(recalled) { context, scene in recall(scene, &context) }
      .onTimer(sceneEnd) { context in
        if context[scratch: PendingOff.self] != nil { setStateByScene(false, &context) }
      }
      .onChange(OnOff.onOff) { context in
        if context[scratch: ByScene.self] == nil { context.call(ScenesManagementServer.attributeChanged, ()) }
        // Whoever changed it: a switch on the device does not come through the commands.
        follow(&context)
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

  /// Where there is a level, it decides how the light comes on and goes off, and tells when (§ 1.6.4.1.1).
  static func turnOn(_ context: inout ServerContext) {
    if !context.call(LevelControlServer.switchRequested, true) { setState(true, &context) }
  }

  static func turnOff(_ context: inout ServerContext) {
    if context.has(OnOff.lighting) { context[OnOff.onTime] = 0 }
    if !context.call(LevelControlServer.switchRequested, false) { setState(false, &context) }
  }

  /// Sets the state, also if it is no other: a command has its effects even so.
  private static func setState(_ isOn: Bool, _ context: inout ServerContext) {
    if context[scratch: PendingOff.self] != nil {
      context[scratch: PendingOff.self] = nil
      context.cancel(sceneEnd)
      // The scene does not get what it was waiting for.
      if isOn && context[scratch: ByScene.self] == nil { context.call(ScenesManagementServer.attributeChanged, ()) }
    }
    context[OnOff.onOff] = isOn
    follow(&context)
  }

  /// What the lighting feature ties to the state.
  private static func follow(_ context: inout ServerContext) {
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

  /// An off that a scene holds back until its transition is over.
  private struct PendingOff: Sendable {}
  /// Set while a scene sets the state, which does not make the scene invalid.
  private struct ByScene: Sendable {}

  private static func recall(_ scene: SceneSwitch, _ context: inout ServerContext) {
    context.call(LevelControlServer.fadeAbandoned, ())
    if scene.isOn || scene.duration <= .zero || !context[OnOff.onOff] {
      setStateByScene(scene.isOn, &context)
    } else {
      context[scratch: PendingOff.self] = PendingOff()
      context.schedule(sceneEnd, at: context.now + scene.duration)
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
        // An unknown variant is taken for the effect's default one (§ 1.5.7.4.2); none of them shows in an attribute.
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
      .onChange(OnOff.onTime) { context in OnOffCountdown.review(&context) }
      .onChange(OnOff.offWaitTime) { context in OnOffCountdown.review(&context) }
      .onTimer(OnOffCountdown.tick) { context in OnOffCountdown.advance(&context) }
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
      // Delayed off: the light stays off, at most for a shorter time.
      context[OnOff.offWaitTime] = min(context[OnOff.offWaitTime], request.offWaitTime)
    } else {
      context[OnOff.onTime] = max(context[OnOff.onTime], request.onTime)
      turnOn(&context)
      context[OnOff.offWaitTime] = request.offWaitTime
    }
    OnOffCountdown.start(&context)
  }
}
