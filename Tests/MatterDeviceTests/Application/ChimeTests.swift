import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

@Suite("Chime") struct ChimeTests {
  private func node(_ sounds: [String] = ["Bell", "Gong"], stored: StoredState = [:]) -> TestNode {
    TestNode([ChimeServer.make(sounds)], stored: stored)
  }

  @Test func servesMandatoryElementsWithValidValues() { expectConformance(of: ChimeServer.make(["Bell"])) }

  @Test func selectsInstalledSoundsOnly() throws {
    let node = node()
    #expect(node[Chime.installedChimeSounds] == [.init(chimeID: 0, name: "Bell"), .init(chimeID: 1, name: "Gong")])
    try node.write(Chime.selectedChime, 1)
    let error = #expect(throws: StatusError.self) { try node.write(Chime.selectedChime, 2) }
    #expect(error?.status.code == .notFound)
    #expect(node[Chime.selectedChime] == 1)
  }

  @Test func playsForAWhileUnlessDisabled() throws {
    let node = node()
    func sound() -> String? { node.context.playingChime(on: 1) }
    try node.invoke(Chime.playChimeSound)
    #expect(sound() == "Bell")
    node.wait(2900)
    try node.write(Chime.selectedChime, 1)
    try node.invoke(Chime.playChimeSound)
    node.wait(2900)
    #expect(sound() == "Gong")
    node.wait(200)
    #expect(sound() == nil)
    try node.write(Chime.enabled, false)
    try node.invoke(Chime.playChimeSound)
    #expect(sound() == nil)
  }

  @Test func keepsSettingsAcrossRestart() throws {
    let node = node()
    try node.write(Chime.selectedChime, 1)
    try node.write(Chime.enabled, false)
    let restarted = self.node(stored: node.stored)
    #expect(restarted[Chime.selectedChime] == 1 && !restarted[Chime.enabled])
    // The definition has fewer sounds now.
    #expect(self.node(["Only"], stored: node.stored)[Chime.selectedChime] == 0)
  }
}
