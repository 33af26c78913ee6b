import MatterClusters
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import VirtualDevices

/// Video players, speakers, selectors and controls of definition files.
@Suite("Media devices") struct MediaDeviceTests {
  private func device(_ fields: String) throws -> DeviceDefinition {
    let text = "devices:\n  - name: Thing\n    \(fields)\n"
    return try #require(try HomeDefinition.load(simulating: [("home.yaml", text)]).devices.first)
  }

  private func engine(_ fields: String, stored: StoredState = [:]) throws -> DeviceEngine {
    try DeviceEngine(device(fields), stored: stored, epoch: 1_780_000_000)
  }

  private func problem(_ fields: String) -> String? {
    let error = #expect(throws: DefinitionError.self) { try device(fields) }
    return error?.problems.map(\.description).joined(separator: "\n")
  }

  private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  // MARK: Definitions

  @Test func readsMedia() throws {
    let media = try #require(
      try device(
        """
        type: TV
            media:
              titles: { One: 90s, Two: 1h }
              channels: { News: 6, Sports: 9.10 }
              inputs: { Antenna: coax }
              outputs: {}
              targets: [Start]
              audio: { pt-BR: Português }
              subtitles: {}
        """
      ).media)
    #expect(media.titles == [.init("One", .seconds(90)), .init("Two", .seconds(3600))])
    #expect(media.channels == [.init("News", 6), .init("Sports", 9, 10)])
    #expect(media.inputs == [.init("Antenna", .coax)])
    #expect(media.outputs.isEmpty && media.subtitles.isEmpty)
    #expect(media.targets == ["Start"] && media.audio == [.init("pt-BR", "Português")])
    #expect(try device("type: TV").media == nil)
    #expect(try device("type: mode select\n    modes: [Off, High]").modes == ["Off", "High"])
  }

  @Test(arguments: [
    ("type: plug\n    media: {}", "home.yaml:4:12: found “media”, expected this key only in"),
    ("type: plug\n    modes: [A]", "home.yaml:4:12: found “modes”, expected this key only in"),
    ("type: mode select\n    phases: { A: 3m }", "home.yaml:4:13: found “phases”, expected this key only in"),
    ("type: plug\n    sounds: [A]", "home.yaml:4:13: found “sounds”, expected this key only in"),
    ("type: chime\n    sounds: []", "home.yaml:4:13: found a list, expected a list of 1 to 32 names"),
    ("type: mode select\n    modes: []", "home.yaml:4:12: found a list, expected a list of 1 to 32 names"),
    ("type: mode select\n    modes: [A, a]", "home.yaml:4:16: found “a”, expected a name of 1 to 64 bytes"),
    ("type: TV\n    media: { title: {} }", "home.yaml:4:14: found key “title”, expected a key of the media"),
    ("type: TV\n    media: { titles: {}, channels: {} }", "home.yaml:4:12: found neither titles nor channels"),
    ("type: TV\n    media: { titles: { A: 500ms } }", "home.yaml:4:27: found “500ms”, expected a time from 1s to 24h"),
    ("type: TV\n    media: { titles: { A: 25h } }", "home.yaml:4:27: found “25h”, expected a time from 1s to 24h"),
    ("type: TV\n    media: { channels: { A: 1.2.3 } }", "home.yaml:4:29: found “1.2.3”, expected a channel number"),
    ("type: TV\n    media: { channels: { A: 65536 } }", "home.yaml:4:29: found 65536, expected a channel number"),
    ("type: TV\n    media: { channels: { A: 1, B: 1.0 } }", "home.yaml:4:35: found channel 1.0 again"),
    ("type: TV\n    media: { inputs: { A: Wire } }", "home.yaml:4:27: found “Wire”, expected “Internal”"),
    ("type: TV\n    media: { audio: { e_n: E } }", "home.yaml:4:23: found “e_n”, expected a language tag"),
    ("type: TV\n    media: { audio: [en] }", "home.yaml:4:21: found a list, expected at most 16 languages"),
    (
      "type: speaker\n    attributes: { levelControl.currentLevel: 255 }",
      "home.yaml:4:46: found 255, expected a number"
    ),
  ]) func reportsWrongKeys(_ fields: String, _ message: String) {
    let problem = problem(fields)
    #expect(problem?.hasPrefix(message) == true, "\(problem ?? "")")
  }

  // MARK: Devices

  @Test func playerHasASpeaker() throws {
    var player = try engine("type: TV\n    attributes: { onOff.onOff: true }")
    #expect(player.nowPlaying(on: 1) == "Documentary")
    try player.act(part: "remote", "VolumeUp", on: 1, at: at(1))
    #expect(player.value(LevelControl.currentLevel, on: 2) == .value(140))
    try player.act(part: "remote", "Mute", on: 1, at: at(1))
    #expect(player.value(OnOff.onOff, on: 2) == false)
    // The keys also change the volume while the speaker is muted.
    try player.act(part: "remote", "VolumeDown", on: 1, at: at(2))
    #expect(player.value(LevelControl.currentLevel, on: 2) == .value(127))
    #expect(player.value(OnOff.onOff, on: 1) == true)
  }

  @Test func omitsClustersWithoutContents() throws {
    let endpoint = try #require(
      DeviceAssembly.endpoints(
        of: try device("type: TV\n    media: { channels: {}, inputs: {}, outputs: {}, targets: [], subtitles: {} }")
      ).first)
    #expect(
      Set(endpoint.servers.map(\.id)) == [OnOff.id, MediaPlayback.id, KeypadInput.id, LowPower.id, WakeOnLan.id])
    let playback = try #require(endpoint.servers.first { $0.id == MediaPlayback.id })
    #expect(playback.features & MediaPlayback.textTracks.mask == 0)
    #expect(playback.features & MediaPlayback.audioTracks.mask != 0)
  }

  @Test func showsWhatPlays() throws {
    var player = try engine("type: TV\n    media: { titles: { One: 90s, Two: 1h } }")
    func state() -> String? { VirtualDevice.media(&player, on: 1) }
    #expect(state() == nil)
    try player.act(set: OnOff.onOff, true, on: 1, at: at(0))
    #expect(state() == "playing, One")
    player.advance(to: at(100))
    #expect(state() == "playing, Two")
    try player.act(part: "remote", "FastForward", on: 1, at: at(101))
    #expect(state() == "playing at 2x, Two")
    try player.act(set: MediaPlayback.currentState, .paused, on: 1, at: at(102))
    #expect(state() == "paused, Two")
    try player.act(part: "remote", "Stop", on: 1, at: at(103))
    #expect(state() == "not playing")
  }

  /// The course is the same in virtual and in real time.
  @Test func followsABehaviorOfItsPower() throws {
    var player = try engine("type: TV\n    behave: { onOff.onOff: { steps: [false for 10s, true for 20s] } }")
    #expect(player.value(MediaPlayback.currentState, on: 1) == .notPlaying)
    player.advance(to: at(10))
    #expect(player.value(MediaPlayback.currentState, on: 1) == .playing)
    player.advance(to: at(30))
    #expect(player.value(MediaPlayback.currentState, on: 1) == .notPlaying)
    player.advance(to: at(40))
    let sample = try #require(player.value(MediaPlayback.sampledPosition, on: 1)?.wrapped)
    #expect(sample.position == .value(20_000))
  }

  @Test func selectorHasItsModes() throws {
    var selector = try engine(
      "type: mode select\n    modes: [Off, Low, High]\n    attributes: { modeSelect.currentMode: 2 }")
    #expect(VirtualDevice.media(&selector, on: 1) == "High")
    try selector.act(set: ModeSelect.currentMode, 1, on: 1, at: at(0))
    #expect(VirtualDevice.media(&selector, on: 1) == "Low")
  }

  @Test func chimePlaysItsSounds() throws {
    var chime = try engine("type: chime\n    sounds: [Bell, Gong]\n    attributes: { chime.selectedChime: 1 }")
    #expect(chime.value(Chime.installedChimeSounds, on: 1)?.map(\.name) == ["Bell", "Gong"])
    #expect(VirtualDevice.media(&chime, on: 1) == "Gong")
    try chime.act(set: Chime.selectedChime, 0, on: 1, at: at(0))
    #expect(VirtualDevice.media(&chime, on: 1) == "Bell")
    try chime.act(set: Chime.enabled, false, on: 1, at: at(0))
    #expect(VirtualDevice.media(&chime, on: 1) == "disabled")
    #expect(throws: (any Error).self) { try chime.act(set: Chime.selectedChime, 2, on: 1, at: at(0)) }
    #expect(throws: DefinitionError.self) {
      try engine("type: chime\n    sounds: [Bell, Gong]\n    attributes: { chime.selectedChime: 2 }")
    }
  }

  @Test func doorbellIsAGenericSwitchWithReleases() throws {
    let endpoint = try #require(DeviceAssembly.endpoints(of: try device("type: doorbell")).first)
    #expect(endpoint.deviceTypes == [DeviceTypes.genericSwitch])
    let server = try #require(endpoint.servers.first { $0.id == Switch.id })
    #expect(server.features == Switch.momentarySwitch.mask | Switch.momentarySwitchRelease.mask)
  }

  @Test func controlsHaveClientClusters() throws {
    let sensor = try #require(DeviceAssembly.endpoints(of: try device("type: on/off sensor")).first)
    #expect(sensor.clients == [Identify.id, OnOff.id])
    let bridge = try #require(DeviceAssembly.endpoints(of: try device("type: control bridge")).first)
    #expect(bridge.clients.contains(ColorControl.id) && bridge.servers.contains { $0.id == Binding.id })
  }
}
