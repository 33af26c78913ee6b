import Foundation
import MakersClusters
import MatterClusters
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import VirtualDevices

/// Clusters of manufacturers in definition files.
@Suite("Clusters of manufacturers in definition files") struct MakersDefinitionTests {
  private static let cluster = """
    cluster 0xFFF1FC50 Blower "Blower" revision 1
    feature 0 TRB Turbo
    attribute 0x0000 Speed  uint8  max 100 nonvolatile write operate = 10
    attribute 0x0001 IsTurbo  bool  TRB = false
    command 0x00 SpeedUp
      add 10 to Speed
    """

  private func home(_ text: String, cluster: String = cluster) throws -> HomeDefinition {
    try HomeDefinition.load(simulating: [("homes/home.yaml", text)]) { name, file in
      guard name == "blower.cluster", file == "homes/home.yaml" else { throw CocoaError(.fileReadNoSuchFile) }
      return cluster
    }
  }

  private static func text(_ device: String, clusters: String = "[blower.cluster]") -> String {
    "clusters: \(clusters)\ndevices:\n  - name: Blower\n    type: fan\n    \(device)\n"
  }

  private func problems(_ text: String, cluster: String = cluster) -> String {
    let error = #expect(throws: DefinitionError.self) { try home(text, cluster: cluster) }
    return error?.problems.map(\.description).joined(separator: "\n") ?? ""
  }

  /// A typed key of the cluster.
  private enum Blower: Cluster {
    static let id: ClusterID = 0xFFF1_FC50, revision: UInt16 = 1, name = "Blower"
    static let speed = Attribute<Self, UInt8>(0, "Speed")
    static let speedUp = Command<Self, NoFields, NoFields>(0, "SpeedUp")
    static let elements: [any ClusterElement] = []
  }

  @Test func servesClusterBesidesThoseOfTheKind() throws {
    let text = Self.text("clusters: [blower TRB]\n    attributes: { blower.speed: 30, fanControl.percentSetting: 20 }")
    let device = try #require(try home(text).devices.first)
    let endpoint = try #require(DeviceAssembly.endpoints(of: device).first)
    #expect(endpoint.servers.contains { $0.id == FanControl.id })
    #expect(endpoint.servers.first { $0.id == Blower.id }?.features == 1)
    var engine = try DeviceEngine(device)
    #expect(engine.value(of: .init(1, Blower.id, 0), at: .zero) == UInt8(30).tlv)
  }

  @Test func valuesSurviveARestart() throws {
    let device = try #require(try home(Self.text("clusters: [Blower]")).devices.first)
    var (engine, stored) = (try DeviceEngine(device), StoredState())
    try engine.press(Blower.speedUp, NoFields(), on: 1, at: .zero)
    while let effect = engine.nextEffect() {
      if case .store(let changes) = effect { for change in changes { stored[change.key] = change.value } }
    }
    var restarted = try DeviceEngine(device, stored: stored)
    #expect(restarted.value(of: .init(1, Blower.id, 0), at: .zero) == UInt8(20).tlv)
  }

  @Test func readsInlineDeclarationsAndEndpoints() throws {
    let declaration = Self.cluster.split(separator: "\n").map { "    \($0)\n" }.joined()
    let text =
      "clusters:\n  - |\n\(declaration)devices:\n  - name: B\n    type: generic switch\n    buttons: [\"On\", \"Off\"]\n"
      + "    clusters: [2.Blower]\n  - name: Hub\n    type: bridge\n    clusters: [Blower]\n    devices:\n"
      + "      - { name: Inner, type: plug, clusters: [Blower] }\n"
    let home = try home(text)
    let endpoints = home.devices.map { DeviceAssembly.endpoints(of: $0) }
    #expect(endpoints[0].map { $0.servers.contains { $0.id == Blower.id } } == [false, true])
    #expect(endpoints[1].allSatisfy { $0.servers.contains { $0.id == Blower.id } } && endpoints[1].count == 2)
  }

  @Test(arguments: [
    ("clusters: [Bloer]", "homes/home.yaml:5:16: found cluster “Bloer”, expected Blower, did you mean “Blower”?"),
    ("clusters: Blower", "homes/home.yaml:5:15: found “Blower”, expected a list of clusters"),
    ("clusters: [Blower TRUB]", "homes/home.yaml:5:16: found “TRUB”, expected a feature, attribute, command or event"),
    ("clusters: [3.Blower]", "homes/home.yaml:5:16: found endpoint 3, expected an endpoint from 1 to 1"),
    (
      "clusters: [Blower, Blower TRB]",
      "homes/home.yaml:5:24: found Blower again on endpoint 1, expected each cluster once"
    ),
    ("clusters: [0.Blower]", "homes/home.yaml:5:16: found endpoint 0, expected an endpoint from 1 to 1"),
    ("clusters: [Blower IsTurbo]", "homes/home.yaml:5:16: found Blower, expected features and elements that conform"),
    (
      "vendor: 0xFFF2\n    clusters: [Blower]",
      "homes/home.yaml:6:16: found Blower (0xFFF1FC50) of another vendor, expected an id that begins with the vendor of "
        + "the device, 0xFFF2"
    ),
    (
      "clusters: [Blower]\n    attributes: { blower.speed: 101 }",
      "homes/home.yaml:6:33: found 101, expected a number from 0 to 100"
    ),
    ("attributes: { blower.speed: 1 }", "homes/home.yaml:5:19: found 1.blower.speed, expected an attribute that"),
  ]) func reportsWrongServers(_ device: String, _ message: String) {
    let problems = problems(Self.text(device))
    #expect(problems.hasPrefix(message), "\(problems)")
  }

  @Test func reportsOneErrorOfDeclaration() {
    let wrong = Self.cluster.replacing("uint8", with: "uint9")
    let text = Self.text("clusters: [Blower]\n    attributes: { blower.speed: 30 }")
    let error = #expect(throws: DefinitionError.self) { try home(text, cluster: wrong) }
    #expect(error?.problems.count == 1, "\(error?.problems.map(\.description) ?? [])")
  }

  @Test func readsDeclarationsOfDefinitionFile() throws {
    let clusters = try HomeDefinition.clusters(file: "homes/home.yaml", text: Self.text("port: none")) { _, _ in
      Self.cluster
    }
    #expect(clusters.map(\.name) == ["Blower"])
    let error = #expect(throws: DefinitionError.self) { _ = try HomeDefinition.clusters(file: "a.yaml", text: "a: 1") }
    #expect(error?.problems.first?.found == "no declaration")
  }

  @Test func reportsErrorsOfDeclarationsWithTheirLine() {
    let wrong = Self.cluster.replacing("uint8", with: "uint9")
    let device = "clusters: [Blower]"
    #expect(
      problems(Self.text(device), cluster: wrong).hasPrefix(
        "homes/blower.cluster:3:1: found uint9: no such type, expected one of "))
    let inline = wrong.split(separator: "\n").map { "  \($0)\n" }.joined()
    #expect(
      problems(Self.text(device, clusters: "|\n\(inline)")).hasPrefix("homes/home.yaml:4:1: found uint9: no such type"))
    #expect(
      problems(Self.text(device, clusters: "[other.cluster]")).hasPrefix(
        "homes/home.yaml:1:12: found “other.cluster”, which can't be read"))
    #expect(
      problems(Self.text(device, clusters: "[blower.cluster, blower.cluster]")).hasPrefix(
        "homes/home.yaml:1:28: found Blower (0xFFF1FC50), expected another name and id than Blower has"))
    // Without a second problem for the names of the cluster.
    let named = Self.text("clusters: [Blower]\n    attributes: { blower.speed: 1 }")
    #expect(problems(named, cluster: wrong).split(separator: "\n").count == 1)
    #expect(problems(Self.text(device, clusters: "[[]]")).contains("expected a file such as acme.cluster"))
  }
}
