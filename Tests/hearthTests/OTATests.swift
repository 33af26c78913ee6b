import Foundation
import Testing

/// Software updates over loopback.
@Suite("hearth ota", .serialized, .processes) struct OTATests {
  private static let create = ["--vendor", "0xFFF1", "--product", "0x8001", "--number", "2"]

  private func file(_ hearth: Hearth, _ name: String) throws -> String {
    try FileManager.default.createDirectory(atPath: hearth.state, withIntermediateDirectories: true)
    return "\(hearth.state)/\(name)"
  }

  @Test(.timeLimit(.minutes(10))) func createsAndShowsImages() async throws {
    let hearth = Hearth()
    let file = try file(hearth, "lamp.ota")
    let created = try await hearth.run(
      ["ota", "create", file] + Self.create + ["--text", "2.0 beta", "--from", "1", "--to", "1"])
    #expect(created.status == 0, "\(created.errors)")
    let shown = try await hearth("ota", "show", file).output
    #expect(shown.contains("0xFFF1") && shown.contains("2 (2.0 beta)") && shown.contains("16384 bytes"), "\(shown)")

    var bytes = try Data(contentsOf: URL(filePath: file))
    bytes[bytes.count - 1] ^= 1
    try bytes.write(to: URL(filePath: file))
    let damaged = try await hearth("ota", "show", file)
    #expect(damaged.status == 12 && damaged.errors.contains("the digest of the payload is wrong"), "\(damaged.errors)")
    #expect(try await hearth("ota", "show", "\(file).none").status == 3)
    let reversed = try await hearth.run(["ota", "create", file] + Self.create + ["--from", "3", "--to", "1"])
    #expect(reversed.status == 2 && reversed.errors.contains("--from must not exceed --to"), "\(reversed)")
    #expect(try await hearth.run(["ota", "create", file] + Self.create + ["--from", "2"]).status == 2)
    let unnamed = try await hearth.run(["ota", "create", ""] + Self.create)
    #expect(unnamed.status == 2 && unnamed.errors.contains("expected the name of a file"), "\(unnamed)")
  }

  @Test(.timeLimit(.minutes(10))) func updatesDevice() async throws {
    let hearth = Hearth()
    let fleet = try await Fleet.lampWithCode(hearth)
    #expect(try await hearth("pair", fleet.code, "--name", "Lamp", "-q").status == 0)
    let file = try file(hearth, "lamp.ota")
    #expect(try await hearth.run(["ota", "create", file] + Self.create).status == 0)
    // A failure of the provider first.
    let failed = try await hearth("ota", "update", "lamp", file, "--fault", "digest")
    let reason = "the update failed in the state Downloading: Failure, after 16"
    #expect(failed.status == 8 && failed.errors.contains(reason), "\(failed.errors)")
    let unavailable = try await hearth("ota", "update", "lamp", file, "--fault", "unavailable")
    #expect(
      unavailable.status == 8 && unavailable.errors.contains("the provider has no newer image for it"),
      "\(unavailable.errors)")
    // The provider is a device of the home only meanwhile.
    #expect(try await !hearth("devices").output.contains("Software Provider"))
    let updated = try await hearth("ota", "update", "lamp", file)
    #expect(updated.status == 0 && updated.output.contains("from version 1 to 2 (2.0)"), "\(updated.errors)")
    // The image no longer applies.
    #expect(try await hearth("ota", "update", "lamp", file).status == 2)
    #expect(try await hearth("read", "lamp.basicInformation.softwareVersion").output == "2\n")
  }
}
