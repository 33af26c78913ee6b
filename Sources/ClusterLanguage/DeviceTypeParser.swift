/// Parses device types: a line with id, name and revision, and indented lines with the mandatory clusters and their
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
        repeat {
          let (cluster, names) = try entry(&line, of: catalogue)
          if keyword == "server" {
            catalogue.deviceTypes[last].servers.append(cluster)
            if !names.isEmpty { catalogue.deviceTypes[last].elements.append((cluster, names)) }
          } else {
            catalogue.deviceTypes[last].clients.append(cluster)
            if let name = names.first { throw line.error("\(name): an element of a client; expected a comma") }
          }
        } while line.next != nil
      default:
        throw line.error("“\(keyword)” is unknown here; expected device, or an indented server or client")
      }
    }
  }

  /// Parses a cluster and the names of its elements that the device type requires, up to a comma or the line's end.
  private static func entry(
    _ line: inout SourceLine, of catalogue: Catalogue
  ) throws(CatalogueError) -> (cluster: String, elements: [String]) {
    let cluster = try word(&line, "the name or number of a cluster")
    var (elements, isComplete): ([String], Bool) = ([], cluster.isLast)
    while !isComplete {
      let element = try word(&line, "the name of an element")
      elements.append(element.text)
      isComplete = element.isLast
    }
    let declaration = catalogue.clusters.first { $0.name == cluster.text }
    guard SourceLine.number(cluster.text[...]) != nil || declaration != nil else {
      throw line.error("\(cluster.text): no such cluster; expected a declared cluster, or a number such as 0x0029")
    }
    if let unknown = elements.first(where: { declaration?.names.contains($0) != true }) {
      throw line.error("\(cluster.text) has no \(unknown); expected feature codes and names of elements")
    }
    return (cluster.text, elements)
  }

  /// Removes and returns a word without its comma, and whether it is the last one of an entry.
  private static func word(
    _ line: inout SourceLine, _ expected: String
  ) throws(CatalogueError) -> (text: String, isLast: Bool) {
    let word = try line.readWord(expected)
    guard word.hasSuffix(",") else { return (word, line.next == nil) }
    guard line.next != nil else { throw line.error("the line ends after a comma; expected a cluster") }
    return (String(word.dropLast()), true)
  }
}
