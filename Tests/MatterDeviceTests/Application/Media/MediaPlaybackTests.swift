import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// The titles take 60 s and 30 s.
@Suite("Media Playback") struct MediaPlaybackTests {
  private typealias Playback = MediaPlayback

  @Test func servesMandatoryElementsWithValidValues() {
    expectConformance(of: MediaPlaybackServer.make(.short))
    var media = MediaSettings.short
    (media.audio, media.subtitles) = ([], [])
    expectConformance(of: MediaPlaybackServer.make(media))
  }

  // MARK: States

  @Test func playsWhileOn() throws {
    let node = TestNode.player(isOn: false)
    #expect(node.playback == .notPlaying)
    #expect(node.speed == 0 && node.length == nil && node.sample == nil)
    #expect(try node.control(Playback.play) == .notActive)
    try node.invoke(OnOff.on)
    #expect(node.playback == .playing)
    #expect(node.speed == 1 && node.length == 60_000 && node.sample == 0)
    node.wait(10_000)
    // A sample is taken when the course changes, not while the title plays.
    #expect(node.sample == 0)
    try node.invoke(OnOff.off)
    #expect(node.playback == .notPlaying)
    #expect(node.sample == nil)
    try node.invoke(OnOff.on)
    #expect(node.sample == 10_000)
  }

  @Test func pausesStopsAndStartsOver() throws {
    let node = TestNode.player()
    node.wait(5000)
    #expect(try node.control(Playback.pause) == .success)
    #expect(node.playback == .paused)
    #expect(node.speed == 0 && node.sample == 5000)
    node.wait(3000)
    #expect(try node.control(Playback.play) == .success)
    #expect(node.playback == .playing && node.sample == 5000)
    let sampled = try #require(node[Playback.sampledPosition].wrapped)
    #expect(sampled.updatedAt == 1_000_000 * 1_000_000 + UInt64(node.now) * 1000)
    node.wait(1000)
    #expect(try node.control(Playback.startOver) == .success)
    #expect(node.playback == .playing && node.sample == 0)
    #expect(try node.control(Playback.stop) == .success)
    #expect(node.playback == .notPlaying && node.sample == nil)
    #expect(try node.control(Playback.pause) == .success)
    #expect(node.playback == .paused && node.sample == 0)
  }

  @Test func playsNextTitleAtTheEndAndStopsAfterTheLast() throws {
    let node = TestNode.player()
    node.wait(59_000)
    #expect(node.length == 60_000)
    node.wait(2000)
    #expect(node.playback == .playing && node.length == 30_000 && node.sample == 0)
    node.wait(30_000)
    #expect(node.playback == .notPlaying && node.length == nil)
    #expect(try node.control(Playback.play) == .success)
    #expect(node.length == 60_000 && node.sample == 0)
  }

  @Test func catchesUpAfterALateTimer() throws {
    let node = TestNode.player()
    node.stall(75_000)
    #expect(node.length == 30_000)
    #expect(try node.control(Playback.pause) == .success)
    #expect(node.sample == 15_000)
  }

  @Test func selectsNextAndPreviousTitle() throws {
    let node = TestNode.player()
    node.wait(4000)
    let response = try #require(try node.invoke(Playback.next, NoFields()))
    #expect(response.status == .success && response.data == "Second")
    #expect(node.length == 30_000 && node.sample == 0)
    // The ends of the list are connected.
    #expect(try node.control(Playback.next) == .success)
    #expect(node.length == 60_000)
    #expect(try node.control(Playback.previous) == .success)
    #expect(node.length == 30_000)
  }

  // MARK: Position and speed

  @Test func seeks() throws {
    let node = TestNode.player()
    _ = try node.control(Playback.pause)
    #expect(try node.control(Playback.seek, .init(position: 10_000)) == .success)
    #expect(node.sample == 10_000 && node.playback == .paused)
    #expect(node[Playback.seekRangeStart] == .value(0) && node[Playback.seekRangeEnd] == .value(60_000))
    #expect(try node.control(Playback.seek, .init(position: 60_001)) == .seekOutOfRange)
    #expect(try node.control(Playback.seek, .init(position: .max)) == .seekOutOfRange)
    #expect(node.sample == 10_000)
    _ = try node.control(Playback.stop)
    #expect(try node.control(Playback.seek, .init(position: 0)) == .invalidStateForCommand)
  }

  @Test func skipsToWholeSecondsWithinTheTitle() throws {
    let node = TestNode.player()
    node.wait(300)
    #expect(try node.control(Playback.skipForward, .init(deltaPositionMilliseconds: 10_000)) == .success)
    #expect(node.sample == 10_000)
    node.wait(300)
    #expect(try node.control(Playback.skipBackward, .init(deltaPositionMilliseconds: 10_000)) == .success)
    #expect(node.sample == 0)
    #expect(try node.control(Playback.skipBackward, .init(deltaPositionMilliseconds: .max)) == .success)
    #expect(node.sample == 0)
    _ = try node.control(Playback.pause)
    #expect(try node.control(Playback.skipForward, .init(deltaPositionMilliseconds: .max)) == .success)
    #expect(node.sample == 60_000)
    // The title has ended.
    _ = try node.control(Playback.play)
    node.wait(1)
    #expect(node.length == 30_000 && node.playback == .playing)
  }

  @Test func doublesTheSpeedUpToItsMaximum() throws {
    let node = TestNode.player()
    _ = try node.control(Playback.seek, .init(position: 30_000))
    _ = try node.control(Playback.pause)
    #expect(try node.control(Playback.fastForward, .init()) == .success)
    #expect(node.playback == .playing && node.speed == 1)
    #expect(try node.control(Playback.fastForward, .init()) == .success)
    #expect(node.speed == 2)
    node.wait(1000)
    #expect(try node.control(Playback.rewind, .init()) == .success)
    #expect(node.playback == .playing && node.speed == -1 && node.sample == 32_000)
    for speed in [-2, -4, -8, -16, -32] as [Float] {
      #expect(try node.control(Playback.rewind, .init()) == .success)
      #expect(node.speed == speed)
    }
    #expect(try node.control(Playback.rewind, .init()) == .speedOutOfRange)
    #expect(node.speed == -32)
    #expect(try node.control(Playback.play) == .success)
    #expect(node.speed == 1)
    #expect(try node.control(Playback.rewind, .init()) == .success)
    node.wait(40_000)
    // At the start, a rewind becomes a pause.
    #expect(node.playback == .paused && node.sample == 0 && node.speed == 0)
  }

  @Test func hasNoSampleWithoutClock() throws {
    let node = TestNode([OnOffServer.make(features: [], isOn: true), MediaPlaybackServer.make(.short)])
    #expect(node[Playback.sampledPosition] == .null && node.length == 60_000)
    node.wait(2000)
    node.setClock(500)
    // The sample was taken at the start.
    #expect(node[Playback.sampledPosition].wrapped == .init(updatedAt: 498_000_000, position: .value(0)))
  }

  // MARK: Tracks

  @Test func activatesTracks() throws {
    let node = TestNode.player()
    #expect(node[Playback.availableAudioTracks].wrapped?.map(\.id) == ["en", "es"])
    #expect(node[Playback.activeAudioTrack].wrapped?.id == "en")
    #expect(node[Playback.activeTextTrack] == .null)
    try node.invoke(Playback.activateAudioTrack, .init(trackID: "es", audioOutputIndex: .null))
    try node.invoke(Playback.activateTextTrack, .init(trackID: "en"))
    #expect(node[Playback.activeAudioTrack].wrapped?.id == "es")
    #expect(node[Playback.activeTextTrack].wrapped?.trackAttributes.languageCode == "en")
    #expect(node.status { try node.invoke(Playback.activateTextTrack, .init(trackID: "fr")) } == .invalidInState)
    let missing = Playback.ActivateAudioTrackRequest(trackID: "es", audioOutputIndex: .value(9))
    #expect(node.status { try node.invoke(Playback.activateAudioTrack, missing) } == .constraintError)
    try node.invoke(Playback.deactivateTextTrack)
    #expect(node[Playback.activeTextTrack] == .null)
    _ = try node.control(Playback.stop)
    #expect(node[Playback.activeAudioTrack] == .null && node[Playback.availableAudioTracks] == .null)
    #expect(node.status { try node.invoke(Playback.activateTextTrack, .init(trackID: "en")) } == .invalidInState)
  }

  // MARK: Restarts and physical actions

  @Test func continuesAfterARestart() throws {
    let node = TestNode.player()
    _ = try node.control(Playback.next)
    _ = try node.control(Playback.seek, .init(position: 12_000))
    let again = TestNode.player(stored: node.stored)
    #expect(again.playback == .playing && again.length == 30_000 && again.sample == 12_000)
    // The definition has fewer titles now.
    var fewer = MediaSettings.short
    fewer.titles.removeLast()
    #expect(TestNode.player(fewer, stored: node.stored).length == 60_000)
  }

  @Test("what follows from the contents can't be set") func refusesDerivedAttributes() throws {
    let node = TestNode.player()
    for speed: Float in [-5, .nan, .infinity, 1] {
      #expect(throws: StatusError.self) { try node.press(Playback.playbackSpeed, speed) }
    }
    try node.invoke(Channel.changeChannelByNumber, .init(majorNumber: 6, minorNumber: 0))
    #expect(throws: StatusError.self) { try node.press(Playback.duration, .value(5)) }
    #expect(throws: StatusError.self) { try node.press(Playback.seekRangeEnd, .value(5)) }
    #expect(throws: StatusError.self) { try node.press(Playback.sampledPosition, .null) }
    #expect(throws: StatusError.self) { try node.press(Playback.availableAudioTracks, .null) }
    #expect(node.speed == 1 && node.length == nil)
  }

  @Test func followsItsOwnRemoteControl() throws {
    let node = TestNode.player()
    try node.press(Playback.currentState, .paused)
    #expect(node.playback == .paused && node.speed == 0)
    try node.press(Playback.currentState, .notPlaying)
    #expect(node.playback == .notPlaying)
    try node.invoke(OnOff.off)
    #expect(node.status { try node.press(Playback.currentState, .playing) } == .invalidInState)
  }
}
