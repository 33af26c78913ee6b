/// Parses device types: a line with id, name and revision, and an indented line for each mandatory cluster with its
/// required elements.
package enum DeviceTypeParser {
  /// Adds the device types of a file to the catalogue.
  package static func parse(_ text: String, file: String, into catalogue: inout Catalogue) throws(CatalogueError) {
    for var line in SourceLine.lines(of: text, file: file) {
      let keyword = try line.readWord("device, server or client")
      switch (keyword, line.isIndented) {
      case ("device", false):
        let id = try line.readNumber("the id of the device type")
        let title = try line.readText("the name of the device type")
        guard line.skip("revision") else { throw line.error("\(title): no revision; expected revision and a number") }
        let revision = try line.readNumber("the revision of the device type")
        let deviceClass = line.skip("utility") ? "utility" : line.skip("node") ? "node" : "simple"
        let constant = line.skip("as") ? try line.readName("a name in Swift") : Names.deviceType(title)
        try line.end("utility, node, as, § or //")
        catalogue.deviceTypes.append(
          .init(
            id: id, title: title, constant: constant, revision: revision, deviceClass: deviceClass,
            reference: Reference(line, book: "Device Library")))
      case ("server", true), ("client", true):
        guard let last = catalogue.deviceTypes.indices.last else {
          throw line.error("\(keyword): no device type above; expected device")
        }
        let cluster = try line.readWord("the name or number of a cluster")
        let declaration = catalogue.clusters.first { $0.name == cluster }
        guard SourceLine.number(cluster[...]) != nil || declaration != nil else {
          throw line.error("\(cluster): no such cluster; expected a declared cluster, or a number such as 0x0029")
        }
        if keyword == "server" {
          catalogue.deviceTypes[last].servers.append(cluster)
          let names = try elements(&line, of: declaration)
          if !names.isEmpty { catalogue.deviceTypes[last].elements.append((cluster, names)) }
        } else {
          catalogue.deviceTypes[last].clients.append(cluster)
        }
        try line.end("the end of the line")
      default:
        throw line.error("“\(keyword)” is unknown here; expected device, or an indented server or client")
      }
    }
  }

  /// Parses the names of the elements that the device type requires.
  private static func elements(
    _ line: inout SourceLine, of cluster: ClusterDeclaration?
  ) throws(CatalogueError) -> [String] {
    guard let cluster else { return [] }
    var names: [String] = []
    while line.next != nil {
      let name = try line.readName("the name of an element")
      guard cluster.names.contains(name) else {
        throw line.error("\(cluster.name) has no \(name); expected feature codes and names of elements")
      }
      names.append(name)
    }
    return names
  }
}
