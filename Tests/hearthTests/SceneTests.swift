import Foundation
import Testing

/// Scenes that devices store.
@Suite("hearth scene", .serialized, .processes) struct SceneTests {
  @Test(.timeLimit(.minutes(10))) func storesRecallsListsAndRemoves() async throws {
    let hearth = Hearth()
    let fleet = try await Fleet.lampWithCode(hearth)
    #expect(try await hearth("pair", fleet.code, "--name", "Lamp", "-q").status == 0)
    #expect(try await hearth("on", "lamp").status == 0)
    let blank = try await hearth("scene", "store", "   ", "lamp")
    #expect(blank.status == 2 && blank.errors.contains("not only blanks"), "\(blank)")
    let stored = try await hearth.run(["scene", "store", "Evening", "lamp", "--over", "0s"])
    #expect(stored.status == 0 && stored.output.contains("Evening"), "\(stored.output)\(stored.errors)")
    #expect(try await hearth("off", "lamp").status == 0)
    #expect(try await hearth("sim", "get", "lamp.onOff.onOff").output == "false\n")

    let listed = try await hearth("scene", "list", "lamp").output
    #expect(listed.split(separator: "\n").count == 2 && listed.contains("Evening"), "\(listed)")
    // The root endpoint has no scenes, which does not hide those of the other.
    let partly = try await hearth("scene", "list", "lamp/0", "lamp/1")
    #expect(partly.status == 10 && partly.output == listed && partly.errors.contains("Lamp: "), "\(partly)")
    #expect(try await hearth("scene", "recall", "evening").status == 0)
    #expect(try await hearth("sim", "get", "lamp.onOff.onOff").output == "true\n")

    #expect(try await hearth("scene", "remove", "evening").status == 0)
    #expect(try await hearth("scene", "recall", "evening").status == 3)
    #expect(try await hearth("scene", "list", "lamp").output.isEmpty)
  }
}
