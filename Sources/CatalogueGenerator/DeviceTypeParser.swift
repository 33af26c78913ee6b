/// Parses device types: a line with id, name and revision, and an indented line for each mandatory cluster.
enum DeviceTypeParser {
  /// Adds the device types of a file to the catalogue.
  static func parse(_ text: String, file: String, into catalogue: inout Catalogue) throws(CatalogueError) {
    for var line in SourceLine.lines(of: text, file: file) {
      let keyword = try line.take("device, server or client")
      switch (keyword, line.isIndented) {
      case ("device", false):
        let id = try line.takeNumber("the id of the device type")
        let title = try line.takeText("the name of the device type")
        guard line.takes("revision") else { throw line.error("\(title): no revision; expected revision and a number") }
        let revision = try line.takeNumber("the revision of the device type")
        let deviceClass = line.takes("utility") ? "utility" : line.takes("node") ? "node" : "simple"
        let constant = line.takes("as") ? try line.takeName("a name in Swift") : Names.deviceType(title)
        try line.end("utility, node, as, § or //")
        catalogue.deviceTypes.append(
          .init(
            id: id, title: title, constant: constant, revision: revision, deviceClass: deviceClass,
            reference: Reference(line, book: "Device Library")))
      case ("server", true), ("client", true):
        guard let last = catalogue.deviceTypes.indices.last else {
          throw line.error("\(keyword): no device type above; expected device")
        }
        let cluster = try line.take("the name or number of a cluster")
        guard SourceLine.number(cluster[...]) != nil || catalogue.clusters.contains(where: { $0.name == cluster })
        else {
          throw line.error("\(cluster): no such cluster; expected a declared cluster, or a number such as 0x0029")
        }
        try line.end("the end of the line")
        if keyword == "server" {
          catalogue.deviceTypes[last].servers.append(cluster)
        } else {
          catalogue.deviceTypes[last].clients.append(cluster)
        }
      default:
        throw line.error("“\(keyword)” is unknown here; expected device, or an indented server or client")
      }
    }
  }
}
