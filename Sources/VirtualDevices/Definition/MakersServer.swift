internal import ClusterLanguage
internal import Foundation
package import MakersClusters
internal import MatterClusters
package import MatterModel
internal import Yams

/// A manufacturer's cluster that a device serves in addition to the clusters of its kind.
package struct MakersServer: Sendable, Hashable {
  /// The endpoint, numbered within the device.
  package var endpoint: EndpointID
  package var cluster: MakersCluster
  /// The optional features and elements that it serves.
  package var names: [String]
  var mark: SourceMark
}

// Clusters of manufacturers: the key `clusters` of a file and of a device.
extension DefinitionReader {
  /// Reads the declarations: names of files, or declarations in the file itself.
  mutating func readClusters(_ node: Node) {
    let entries: [Node] = if case .sequence(let sequence) = node { Array(sequence) } else { [node] }
    for entry in entries {
      let mark = document.mark(of: entry)
      guard let text = entry.scalar?.string, !entry.isNull else {
        noteUnreadMaker()
        report(entry, expected: "a file such as acme.cluster, or a declaration in lines after “|”")
        continue
      }
      do {
        let isFile = !text.contains("\n")
        let cluster = try MakersCluster(
          isFile ? open(text, document.file) : text,
          file: isFile ? TextFile.path(text, besides: document.file) : document.file, offset: isFile ? 0 : mark.line)
        if let other = makers.first(where: { $0.id == cluster.id || $0.name.lowercased() == cluster.name.lowercased() })
        {
          report(
            at: mark, found: "\(cluster.name) (\(cluster.id))", expected: "another name and id than \(other.name) has")
        } else {
          add(cluster)
        }
      } catch let error as CatalogueError {
        noteUnreadMaker()
        let parts = error.message.components(separatedBy: "; expected ")
        report(
          at: SourceMark(file: error.file, line: error.line, column: 1), found: parts[0],
          expected: parts.dropFirst().joined(separator: "; expected "))
      } catch let error as DefinitionError {
        noteUnreadMaker()
        problems += error.problems
      } catch {
        noteUnreadMaker()
        let reason = TextFile.reason(error, TextFile.path(text, besides: document.file))
        report(
          at: mark, found: "“\(text)”, which can't be read (\(reason))",
          expected: "a file with a cluster, by its path from here")
      }
    }
  }

  /// Returns the declarations of a file, without its devices.
  mutating func readDeclarations() throws(DefinitionError) -> [MakersCluster] {
    let root = try document.root()
    if case .mapping(let mapping)? = root,
      let node = mapping.first(where: { $0.key.scalar?.string == "clusters" })?.value
    {
      readClusters(node)
    } else {
      report(
        at: document.mark(line: 1, column: 1), found: "no declaration", expected: "“clusters:” with declarations")
    }
    guard problems.isEmpty else { throw DefinitionError(problems: problems) }
    return makers
  }

  /// Reads the clusters of a device, each with its optional features and elements: `[AcmeFan TRB]`.
  mutating func readMakers(_ node: Node, vendor: UInt16) -> [MakersServer] {
    guard case .sequence(let sequence) = node else {
      report(node, expected: "a list of clusters such as [AcmeFan]")
      return []
    }
    var servers: [MakersServer] = []
    for entry in sequence {
      guard let server = readServer(entry, vendor: vendor) else { continue }
      guard !servers.contains(where: { $0.endpoint == server.endpoint && $0.cluster.id == server.cluster.id }) else {
        report(
          at: server.mark, found: "\(server.cluster.name) again on endpoint \(server.endpoint)",
          expected: "each cluster once, with all of its optional elements")
        continue
      }
      servers.append(server)
    }
    return servers
  }

  private mutating func readServer(_ node: Node, vendor: UInt16) -> MakersServer? {
    let mark = document.mark(of: node)
    var words = (node.scalar?.string ?? "").split(separator: " ").map(String.init)
    var endpoint: EndpointID = 1
    if let parts = words.first?.split(separator: ".", maxSplits: 1), parts.count == 2, let number = UInt16(parts[0]) {
      (endpoint, words[0]) = (EndpointID(number), String(parts[1]))
    }
    let wanted = words.isEmpty ? "" : words.removeFirst()
    guard let cluster = makers.first(where: { NormalizedName($0.name) == NormalizedName(wanted) }) else {
      if lacksMakers { return nil }
      let names = makers.map(\.name)
      report(
        at: mark, found: "cluster \(node.summary)",
        expected: names.isEmpty ? "“clusters:” with its declaration in the file" : Self.list(names),
        suggestions: NearestName.suggestions(for: wanted, in: names))
      return nil
    }
    let known = cluster.features.map(\.code) + cluster.elements.map(\.name)
    for word in words where !known.contains(word) {
      report(
        at: mark, found: "“\(word)”", expected: "a feature, attribute, command or event of \(cluster.name)",
        suggestions: NearestName.suggestions(for: word, in: known))
    }
    if cluster.id.vendor != vendor {
      report(
        at: mark, found: "\(cluster.name) (\(cluster.id)) of another vendor",
        expected: "an id that begins with the vendor of the device, \(VendorID(vendor))")
    }
    return MakersServer(endpoint: endpoint, cluster: cluster, names: words, mark: mark)
  }
}

extension HomeDefinition {
  /// Returns the clusters of manufacturers that a definition file declares.
  package static func clusters(
    file: String, text: String, opening open: @escaping FileReader = HomeDefinition.openFile
  ) throws(DefinitionError) -> [MakersCluster] {
    var reader = DefinitionReader(file: file, text: text, catalogue: nil, opening: open)
    return try reader.readDeclarations()
  }
}

extension ElementInfo {
  fileprivate var name: String {
    switch self {
    case .attribute(let info): info.name
    case .command(let info): info.name
    case .event(let info): info.name
    }
  }
}
