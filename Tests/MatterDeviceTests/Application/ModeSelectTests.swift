import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

@Suite("Mode Select") struct ModeSelectTests {
  private static let modes = ["Low", "Medium", "High"]

  private func node(_ modes: [String] = Self.modes, stored: StoredState = [:]) -> TestNode {
    TestNode([ModeSelectServer.make(modes)], stored: stored)
  }

  @Test func servesMandatoryElementsWithValidValues() { expectConformance(of: ModeSelectServer.make(Self.modes)) }

  @Test func changesModeAndRejectsUnknownOne() throws {
    let node = node()
    #expect(node[ModeSelect.supportedModes].map(\.label) == Self.modes)
    try node.invoke(ModeSelect.changeToMode, .init(newMode: 2))
    #expect(node[ModeSelect.currentMode] == 2)
    let error = #expect(throws: StatusError.self) { try node.invoke(ModeSelect.changeToMode, .init(newMode: 3)) }
    #expect(error?.status.code == .invalidCommand)
    #expect(node[ModeSelect.currentMode] == 2)
  }

  @Test func keepsModeAcrossRestart() throws {
    let node = node()
    try node.invoke(ModeSelect.changeToMode, .init(newMode: 1))
    #expect(self.node(stored: node.stored)[ModeSelect.currentMode] == 1)
    // The definition has fewer modes now.
    #expect(self.node(["Only"], stored: node.stored)[ModeSelect.currentMode] == 0)
  }

  @Test func startsInStartUpMode() throws {
    let node = node()
    #expect(throws: StatusError.self) { try node.write(ModeSelect.startUpMode, .value(3)) }
    try node.write(ModeSelect.startUpMode, .value(2))
    #expect(node[ModeSelect.currentMode] == 0)
    #expect(self.node(stored: node.stored)[ModeSelect.currentMode] == 2)
    let fewer = self.node(["A", "B"], stored: node.stored)
    #expect(fewer[ModeSelect.currentMode] == 0)
    #expect(fewer[ModeSelect.startUpMode] == .null)
  }
}

@Suite("Speaker") struct SpeakerTests {
  @Test func setsVolumeWhileMuted() throws {
    let node = TestNode(SpeakerServers.make())
    for server in SpeakerServers.make() { expectConformance(of: server) }
    #expect(node[OnOff.onOff])
    #expect(node[LevelControl.currentLevel] == .value(127))
    try node.invoke(OnOff.off)
    var request = LevelControl.MoveToLevelRequest(
      level: 0, transitionTime: .value(0), optionsMask: [], optionsOverride: [])
    try node.invoke(LevelControl.moveToLevel, request)
    #expect(node[LevelControl.currentLevel] == .value(127))
    (request.optionsMask, request.optionsOverride) = (.executeIfOff, .executeIfOff)
    try node.invoke(LevelControl.moveToLevel, request)
    #expect(node[LevelControl.currentLevel] == .value(0))
    #expect(!node[OnOff.onOff])
    try node.invoke(OnOff.on)
    // Without the feature On/Off, muting does not change the volume.
    #expect(node[LevelControl.currentLevel] == .value(0))
    try node.invoke(
      LevelControl.moveToLevel, .init(level: 254, transitionTime: .value(0), optionsMask: [], optionsOverride: []))
    #expect(node[LevelControl.currentLevel] == .value(254))
  }
}
