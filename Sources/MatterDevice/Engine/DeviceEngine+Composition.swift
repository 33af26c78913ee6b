internal import MatterClusters
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

extension DeviceEngine {
  /// Increments ConfigurationVersion if endpoints, device types or clusters differ from those of the last run.
  /// Matter Core § 11.1.
  mutating func updateConfigurationVersion(_ last: [UInt8]?) {
    let digest = Hash.sha256(composition)
    guard digest != last else { return }
    context.node.changes.append(StoreChange(StoreKey.composition, digest))
    let path = BasicInformation.configurationVersion.path(on: .root)
    guard last != nil, let index = context.node.index(ClusterPath(path.endpoint, path.cluster)),
      let value = context.node.clusters[index][path.attribute], let version = try? UInt32(tlv: value)
    else { return }
    _ = context.node.set(index, path.attribute, (version &+ 1 == 0 ? 1 : version &+ 1).tlv, reporting: .now)
  }

  /// The structure of the node that controllers cache, as in Descriptor and the global attributes.
  var composition: [UInt8] {
    var writer = TLVWriter()
    writer.array(.anonymous) {
      for endpoint in context.node.endpoints {
        $0.array(.anonymous) {
          $0.write(UInt64(endpoint.id.rawValue))
          for type in endpoint.deviceTypes { $0.write(UInt64(type.id.rawValue) << 16 | UInt64(type.revision)) }
          for cluster in context.node.clusters where cluster.path.endpoint == endpoint.id {
            $0.write(UInt64(cluster.server.id.rawValue) << 32 | UInt64(cluster.server.features))
          }
          // Separate arrays, because clients and parts are different kinds of numbers.
          for list in [
            endpoint.clients.sorted().map { UInt64($0.rawValue) }, endpoint.parts.map { UInt64($0.rawValue) },
          ] {
            $0.array(.anonymous) { for number in list { $0.write(number) } }
          }
          for tag in endpoint.tags { $0.write(octets: tag.tlv, .anonymous) }
        }
      }
    }
    return writer.finish()
  }
}
