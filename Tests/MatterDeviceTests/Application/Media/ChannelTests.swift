import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Channels, inputs, outputs, targets and keys of a video player.
@Suite("Channels and keys of a video player") struct ChannelTests {
  @Test func servesMandatoryElementsWithValidValues() {
    let media = MediaSettings.short
    for server in [
      ChannelServer.make(media.channels), MediaInputServer.make(media.inputs), AudioOutputServer.make(media.outputs),
      TargetNavigatorServer.make(media.targets), KeypadInputServer.make(), StandbyServers.lowPower(),
      StandbyServers.wakeOnLAN([2, 0, 0, 0, 0, 1]),
    ] { expectConformance(of: server) }
  }

  // MARK: Channels

  private func change(_ node: TestNode, to match: String) throws -> Channel.StatusEnum {
    try #require(try node.invoke(Channel.changeChannel, .init(match: match))).status
  }

  @Test func tunesByNameAndNumber() throws {
    var media = MediaSettings.short
    media.channels += [.init("music", 20), .init("6.0", 30)]
    let node = TestNode.player(media)
    #expect(node.station == nil)
    #expect(try change(node, to: "sports") == .success)
    #expect(node.station == "Sports")
    #expect(try change(node, to: "20.0") == .success)
    #expect(node.station == "music")
    #expect(try change(node, to: "Music") == .multipleMatches)
    #expect(try change(node, to: "20") == .noMatches)
    // Names precede numbers.
    #expect(try change(node, to: "6.0") == .success)
    #expect(node[Channel.currentChannel].wrapped?.majorNumber == 30)
    try node.invoke(Channel.changeChannelByNumber, .init(majorNumber: 9, minorNumber: 1))
    #expect(node.station == "Sports")
    let unknown = Channel.ChangeChannelByNumberRequest(majorNumber: 9, minorNumber: 0)
    #expect(node.status { try node.invoke(Channel.changeChannelByNumber, unknown) } == .constraintError)
  }

  @Test func connectsTheEndsOfTheList() throws {
    let node = TestNode.player()
    try node.invoke(Channel.skipChannel, .init(count: 1))
    #expect(node.station == "Sports")
    try node.invoke(Channel.skipChannel, .init(count: -2))
    #expect(node.station == "Music")
    try node.invoke(Channel.skipChannel, .init(count: .max))
    #expect(node.station == "News")
    try node.invoke(Channel.skipChannel, .init(count: .min))
    #expect(node.station == "Sports")
  }

  @Test func isLive() throws {
    let node = TestNode.player()
    node.wait(7000)
    try node.invoke(Channel.skipChannel, .init(count: 1))
    #expect(node.playback == .playing && node.speed == 1)
    #expect(node.length == nil && node.sample == nil && node[MediaPlayback.seekRangeEnd] == .null)
    for command in [MediaPlayback.pause, MediaPlayback.startOver, MediaPlayback.next, MediaPlayback.previous] {
      #expect(try node.control(command) == .notAllowed)
    }
    #expect(try node.control(MediaPlayback.fastForward, .init()) == .notAllowed)
    #expect(try node.control(MediaPlayback.seek, .init(position: 0)) == .notAllowed)
    #expect(try node.control(MediaPlayback.skipForward, .init(deltaPositionMilliseconds: 1)) == .notAllowed)
    node.wait(86_400_000)
    #expect(node.station == "Sports")
    #expect(TestNode.player(stored: node.stored).station == "Sports")
    // Stop returns to the titles.
    #expect(try node.control(MediaPlayback.stop) == .success)
    #expect(node.station == nil)
    #expect(try node.control(MediaPlayback.play) == .success)
    #expect(node.length == 60_000)
  }

  @Test func playsChannelsWithoutTitles() throws {
    var media = MediaSettings.short
    media.titles = []
    let node = TestNode.player(media)
    #expect(node.station == "News" && node.playback == .playing)
    #expect(try node.control(MediaPlayback.stop) == .success)
    #expect(node.playback == .notPlaying && node.station == nil)
    #expect(try node.control(MediaPlayback.play) == .success)
    #expect(node.station == "News")
    try node.invoke(OnOff.off)
    #expect(node.status { try node.invoke(Channel.skipChannel, .init(count: 1)) } == .invalidInState)
  }

  // MARK: Selections

  @Test func selectsAndRenamesInputsAndOutputs() throws {
    let node = TestNode.player()
    #expect(node[MediaInput.inputList].map(\.index) == [1, 2, 3])
    try node.invoke(MediaInput.selectInput, .init(index: 3))
    try node.invoke(MediaInput.renameInput, .init(index: 3, name: "Roof"))
    try node.invoke(AudioOutput.selectOutput, .init(index: 2))
    try node.invoke(AudioOutput.renameOutput, .init(index: 1, name: "Loud"))
    for index in [0, 4] as [UInt8] {
      #expect(node.status { try node.invoke(MediaInput.selectInput, .init(index: index)) } == .constraintError)
      #expect(
        node.status { try node.invoke(AudioOutput.renameOutput, .init(index: index, name: "")) } == .constraintError)
    }
    let again = TestNode.player(stored: node.stored)
    #expect(again[MediaInput.currentInput] == 3 && again[AudioOutput.currentOutput] == 2)
    #expect(again[MediaInput.inputList].map(\.name) == ["HDMI 1", "HDMI 2", "Roof"])
    #expect(again[AudioOutput.outputList].map(\.name) == ["Loud", "Headphones"])
    // The definition has fewer inputs now.
    var fewer = MediaSettings.short
    fewer.inputs.removeLast()
    #expect(TestNode.player(fewer, stored: node.stored)[MediaInput.currentInput] == 1)
  }

  private func navigate(_ node: TestNode, to target: UInt8) throws -> TargetNavigator.StatusEnum {
    try #require(try node.invoke(TargetNavigator.navigateTarget, .init(target: target))).status
  }

  @Test func navigatesToTargets() throws {
    let node = TestNode.player()
    #expect(node[TargetNavigator.currentTarget] == 0xFF)
    #expect(try navigate(node, to: 2) == .success)
    #expect(node[TargetNavigator.currentTarget] == 2)
    #expect(try navigate(node, to: 3) == .targetNotFound)
    #expect(try navigate(node, to: 0) == .targetNotFound)
    try node.invoke(OnOff.off)
    #expect(try navigate(node, to: 1) == .notAllowed)
  }

  // MARK: Keys

  @Test func keysHaveTheEffectOfCommands() throws {
    let node = TestNode.player()
    #expect(try node.press(.pausePlayFunction) == .success)
    #expect(node.playback == .paused)
    #expect(try node.press(.pausePlayFunction) == .success)
    #expect(try node.press(.fastForward) == .success)
    #expect(node.speed == 2)
    #expect(try node.press(.forward) == .success)
    #expect(node.length == 30_000)
    #expect(try node.press(.inputSelect) == .success)
    #expect(node[MediaInput.currentInput] == 2)
    #expect(try node.press(.channelDown) == .success)
    #expect(node.station == "Music")
    #expect(try node.press(.pause) == .invalidKeyInCurrentState)
    #expect(try node.press(.setupMenu) == .success)
    #expect(try node.press(.up) == .success)
    #expect(try node.press(.record) == .unsupportedKey)
    // This player has no speaker.
    #expect(try node.press(.volumeUp) == .unsupportedKey)
    #expect(try node.press(.power) == .success)
    #expect(!node[OnOff.onOff] && node.playback == .notPlaying)
    #expect(try node.press(.play) == .invalidKeyInCurrentState)
    #expect(try node.press(.init(rawValue: 0xFE)) == .unsupportedKey)
    #expect(try node.press(.powerOnFunction) == .success)
    #expect(node[OnOff.onOff])
  }

  @Test func entersChannelNumbers() throws {
    let node = TestNode.player()
    #expect(try node.press(.numbers1) == .success)
    node.wait(1000)
    #expect(try node.press(.number0OrNumber10) == .success)
    node.wait(1999)
    #expect(node.station == nil)
    node.wait(1)
    #expect(node.station == "Music")
    for key in [.numbers9, .dot, .numbers1, .enter] as [KeypadInput.CECKeyCode] {
      #expect(try node.press(key) == .success)
    }
    #expect(node.station == "Sports")
    for key in [.numbers7, .enter] as [KeypadInput.CECKeyCode] { #expect(try node.press(key) == .success) }
    #expect(node.station == "Sports")
  }

  @Test func followsItsOwnRemoteControl() throws {
    let node = TestNode.player()
    try node.move("remote", "channelUp")
    #expect(node.station == "Sports")
    #expect(node.status { try node.move("remote", "Nonsense") } == .constraintError)
    #expect(node.status { try node.move("remote", "Record") } == .invalidInState)
  }

  @Test func sleepsAndWakes() throws {
    let node = TestNode.player()
    #expect(node[WakeOnLan.macAddress] == "02AB0001020F")
    try node.invoke(LowPower.sleep)
    #expect(!node[OnOff.onOff] && node.playback == .notPlaying)
    try node.move("network", "magic packet")
    #expect(node[OnOff.onOff] && node.playback == .playing)
  }
}
