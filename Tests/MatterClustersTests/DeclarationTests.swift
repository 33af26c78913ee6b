import Foundation
import MatterClusters
import MatterModel
import Testing

/// Compares the declarations in the sources with `elements` and the catalogue.
struct DeclarationTests {
  struct Source: Sendable, CustomTestStringConvertible {
    var path: String
    var text: String
    var testDescription: String { path }
  }

  static let sources: [Source] = {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/MatterClusters")
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return (files?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
      .compactMap { url in
        (try? String(contentsOf: url, encoding: .utf8)).map { .init(path: url.lastPathComponent, text: $0) }
      }
      .sorted { $0.path < $1.path }
  }()

  static let declarations = sources.filter { $0.text.contains(": Cluster {") }

  @Test func findsDeclarations() { #expect(Self.declarations.count >= 38) }

  @Test(arguments: declarations)
  func listsClusterInCatalogue(_ source: Source) throws {
    let name = try #require(source.text.firstMatch(of: /public enum (\w+): Cluster/)?.1)
    #expect(
      ClusterCatalogue.all.contains { "\($0)" == name },
      "add \(name).self to ClusterCatalogue.all")
  }

  @Test(arguments: declarations)
  func listsEveryElement(_ source: Source) throws {
    let declared = source.text.matches(of: /static let `?(\w+)`? = (?:Attribute|Command|Event)</).map { String($0.1) }
    let list = try #require(
      source.text.firstMatch(of: /static let elements: \[any ClusterElement\] = \[([^\]]*)\]/)?.1,
      "\(source.path) has no list of elements")
    let listed = list.split { ", \n`".contains($0) }.map(String.init)
    #expect(!declared.isEmpty)
    for name in declared where !listed.contains(name) {
      Issue.record("\(source.path) declares '\(name)' but does not list it: add it to `elements`")
    }
    for name in listed where !declared.contains(name) {
      Issue.record("\(source.path) lists '\(name)', which it does not declare: remove it from `elements`")
    }
    #expect(Set(listed).count == listed.count, "\(source.path) lists an element twice")
    // The parsed declarations match the compiled ones.
    let cluster = ClusterCatalogue.all.first { source.text.contains("public enum \($0): Cluster") }
    #expect(cluster?.elements.count == declared.count)
  }

  /// The Swift name is derived from the name in the standard, so that it is predictable.
  @Test(arguments: declarations)
  func derivesNamesFromStandard(_ source: Source) {
    let elements = source.text.matches(
      of: /static let `?(\w+)`? = (Attribute|Command|Event)<[^(]*\(\s*0x[0-9A-F]+, "(\w+)"/)
    for element in elements {
      let expected = NormalizedName.camelCase(String(element.3))
      #expect(
        element.1 == expected || element.1 == expected + element.2,
        "\(source.path): rename '\(element.1)' to '\(expected)'; the name in the standard is \(element.3)")
    }
  }

  @Test(arguments: declarations)
  func namesSpecificationSection(_ source: Source) {
    #expect(source.text.contains(/\/\/\/ .*§ [0-9A.]+/), "\(source.path): name the section of the specification")
  }
}
