import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

extension MediaSettings {
  /// Two short titles and three channels.
  static var short: MediaSettings {
    var media = MediaSettings()
    media.titles = [.init("First", .seconds(60)), .init("Second", .seconds(30))]
    media.channels = [.init("News", 6), .init("Sports", 9, 1), .init("Music", 10)]
    return media
  }
}

extension TestNode {
  /// A node with a video player that is on and has a clock.
  static func player(_ media: MediaSettings = .short, isOn: Bool = true, stored: StoredState = [:]) -> TestNode {
    let node = TestNode(
      [
        TimeSynchronizationServer.make(), OnOffServer.make(features: [], isOn: isOn).switchingPlayer(),
        MediaPlaybackServer.make(media), ChannelServer.make(media.channels), MediaInputServer.make(media.inputs),
        AudioOutputServer.make(media.outputs), TargetNavigatorServer.make(media.targets), KeypadInputServer.make(),
        StandbyServers.lowPower(), StandbyServers.wakeOnLAN([0x02, 0xAB, 0, 1, 2, 0x0F]),
      ], stored: stored)
    node.setClock(1_000_000)
    return node
  }

  /// Sends a command of Media Playback, and returns the status of its response.
  func control<Request: ModelStruct>(
    _ command: Command<MediaPlayback, Request, MediaPlayback.PlaybackResponse>, _ request: Request
  ) throws -> MediaPlayback.StatusEnum {
    try #require(try invoke(command, request)).status
  }

  func control(
    _ command: Command<MediaPlayback, NoFields, MediaPlayback.PlaybackResponse>
  ) throws -> MediaPlayback.StatusEnum { try control(command, NoFields()) }

  var playback: MediaPlayback.PlaybackState { self[MediaPlayback.currentState] }
  var speed: Float { self[MediaPlayback.playbackSpeed] }
  /// The position of the sample in milliseconds; nil without one.
  var sample: UInt64? { self[MediaPlayback.sampledPosition].wrapped?.position.wrapped }
  /// The duration in milliseconds; nil without one.
  var length: UInt64? { self[MediaPlayback.duration].wrapped }
  /// The name of the channel; nil without one.
  var station: String? { self[Channel.currentChannel].wrapped?.name }

  func press(_ key: KeypadInput.CECKeyCode) throws -> KeypadInput.StatusEnum {
    try #require(try invoke(KeypadInput.sendKey, .init(keyCode: key))).status
  }
}
