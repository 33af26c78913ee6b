import MatterClusters
import MatterModel
import MatterProtocol

/// The Keypad Input server of a video player. Application Clusters § 6.8.
///
/// Keys have the effect of the commands of the other clusters. As a physical action, `remote` is the remote control of
/// the player: `hearth sim set TV.remote=ChannelUp`.
public enum KeypadInputServer {
  private typealias Key = KeypadInput.CECKeyCode

  /// The channel number that is being entered.
  private struct Entry: Sendable { var digits = "" }
  /// The time after the last digit when the player tunes to the channel.
  static let entryTime = Duration.seconds(2)
  /// The longest channel number: two numbers of 16 bits and a dot.
  private static let longestEntry = 11

  /// Returns the server.
  public static func make() -> ClusterServer {
    ClusterServer(
      KeypadInput.self,
      features: [KeypadInput.navigationKeyCodes, KeypadInput.locationKeys, KeypadInput.numberKeys]
    )
    .answer(KeypadInput.sendKey) { context, request throws(StatusError) in
      .init(status: press(request.keyCode, &context))
    }
    .onTimer(.numberEntryEnd, finishEntry)
    .onPart("remote", [], expected: "a key of `hearth schema keypadInput`, such as Power, Play or VolumeUp") {
      (context, name) throws(StatusError) in
      let key = Key.names.first { $0.value.lowercased() == name.lowercased() }
      guard let key else { throw StatusError(.constraintError) }
      guard press(.init(rawValue: UInt8(clamping: key.key)), &context) == .success else {
        throw StatusError(.invalidInState)
      }
    }
  }

  private static func press(_ key: Key, _ context: inout ServerContext) -> KeypadInput.StatusEnum {
    do throws(StatusError) {
      if try pressPower(key, &context) { return .success }
      guard context.value(OnOff.onOff) ?? true else {
        return key.isKnown ? .invalidKeyInCurrentState : .unsupportedKey
      }
      if let status = try pressPlayback(key, &context) {
        return status == .success ? .success : .invalidKeyInCurrentState
      }
      if enter(key, &context) { return .success }
      if pressSelection(key, &context) { return .success }
      if try pressVolume(key, &context) { return .success }
    } catch {
      // The player lacks the cluster, or what it controls can't do that now.
      return error.status.code == .unsupportedCluster ? .unsupportedKey : .invalidKeyInCurrentState
    }
    // Keys that move within the user interface, which is not simulated.
    let others: [Key] = [.displayInformation, .help, .pageUp, .pageDown]
    let isKnown = key.isKnown && key.rawValue <= Key.mediaContextSensitiveMenu.rawValue || others.contains(key)
    return isKnown ? .success : .unsupportedKey
  }

  private static func pressPower(_ key: Key, _ context: inout ServerContext) throws(StatusError) -> Bool {
    switch key {
    case .power, .powerToggleFunction: try context.invoke(OnOff.toggle, NoFields())
    case .powerOnFunction: try context.invoke(OnOff.on, NoFields())
    case .powerOffFunction: try context.invoke(OnOff.off, NoFields())
    default: return false
    }
    return true
  }

  /// - Returns: nil for other keys.
  private static func pressPlayback(
    _ key: Key, _ context: inout ServerContext
  ) throws(StatusError) -> MediaPlayback.StatusEnum? {
    let command: Command<MediaPlayback, NoFields, MediaPlayback.PlaybackResponse>
    switch key {
    case .play, .playFunction: command = MediaPlayback.play
    case .pause: command = MediaPlayback.pause
    case .pausePlayFunction:
      let isPlaying = context[MediaPlayback.currentState] == .playing
      command = isPlaying ? MediaPlayback.pause : MediaPlayback.play
    case .stop, .stopFunction: command = MediaPlayback.stop
    case .forward: command = MediaPlayback.next
    case .backward: command = MediaPlayback.previous
    case .rewind: return try context.invoke(MediaPlayback.rewind, .init())?.status
    case .fastForward: return try context.invoke(MediaPlayback.fastForward, .init())?.status
    default: return nil
    }
    return try context.invoke(command, NoFields())?.status
  }

  private static func pressSelection(_ key: Key, _ context: inout ServerContext) -> Bool {
    switch key {
    case .channelUp: context.call(ChannelServer.skipped, 1)
    case .channelDown: context.call(ChannelServer.skipped, -1)
    case .inputSelect: context.call(MediaInputServer.next, ())
    case .soundSelect: context.call(AudioOutputServer.next, ())
    default: false
    }
  }

  /// Controls the speaker among the parts of the player.
  private static func pressVolume(_ key: Key, _ context: inout ServerContext) throws(StatusError) -> Bool {
    let keys: [Key] = [.volumeUp, .volumeDown, .mute, .muteFunction, .restoreVolumeFunction]
    guard keys.contains(key) else { return false }
    let parts = context.node.endpoint(context.endpoint)?.parts ?? []
    guard let speaker = parts.first(where: { context.serves(LevelControl.self, on: $0) }) else {
      throw StatusError(.unsupportedCluster)
    }
    switch key {
    case .mute: try context.invoke(OnOff.toggle, NoFields(), on: speaker)
    case .muteFunction: try context.invoke(OnOff.off, NoFields(), on: speaker)
    case .restoreVolumeFunction: try context.invoke(OnOff.on, NoFields(), on: speaker)
    default:
      // A twentieth of the range.
      let step = LevelControl.StepRequest(
        stepMode: key == .volumeUp ? .up : .down, stepSize: 13, transitionTime: .value(0), optionsMask: .executeIfOff,
        optionsOverride: .executeIfOff)
      try context.invoke(LevelControl.step, step, on: speaker)
    }
    return true
  }

  // MARK: Channel numbers

  /// Adds a digit to the channel number, or ends it.
  /// - Returns: false for other keys, and without channels.
  private static func enter(_ key: Key, _ context: inout ServerContext) -> Bool {
    guard context.serves(Channel.self) else { return false }
    var entry = context[scratch: Entry.self, default: Entry()]
    switch key {
    case .enter:
      finishEntry(&context)
      return true
    case .clear: entry.digits = ""
    case .dot: entry.digits += "."
    case .number0OrNumber10: entry.digits += "0"
    case _ where (Key.numbers1.rawValue...Key.numbers9.rawValue).contains(key.rawValue):
      entry.digits += "\(key.rawValue - Key.numbers1.rawValue + 1)"
    default: return false
    }
    if entry.digits.count > longestEntry { entry.digits = "" }
    context[scratch: Entry.self] = entry
    context.schedule(.numberEntryEnd, at: context.now + entryTime)
    return true
  }

  private static func finishEntry(_ context: inout ServerContext) {
    context.cancel(.numberEntryEnd)
    let digits = context[scratch: Entry.self, default: Entry()].digits
    context[scratch: Entry.self] = nil
    if !digits.isEmpty { context.call(ChannelServer.select, digits) }
  }
}
