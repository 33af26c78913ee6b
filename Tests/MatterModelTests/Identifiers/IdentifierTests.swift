import MatterModel
import MatterTLV
import Testing

struct IdentifierTests {
  @Test func printsIdentifiers() {
    #expect(ClusterID(0x0006).description == "0x00000006")
    #expect(VendorID(0xFFF1).description == "0xFFF1")
    #expect(NodeID(0xDEAD_BEEF).description == "0x00000000DEADBEEF")
    #expect(EndpointID(7).description == "7")
    #expect(ConcreteAttributePath(1, 6, 0x4003).description == "1/0x00000006/0x00004003")
  }

  @Test func encodesIdentifiers() throws {
    #expect(ClusterID(0x0300).tlv == [0x05, 0x00, 0x03])
    #expect(try NodeID(tlv: UInt64.max.tlv).rawValue == .max)
    #expect(throws: TLVError.outOfRange) { try FabricIndex(tlv: UInt16(256).tlv) }
    #expect(FabricIndex.schema == .unsigned(bits: 8))
  }

  @Test func classifiesNodeIDs() {
    #expect(!NodeID(0).isOperational && NodeID(1).isOperational && NodeID(0xFFFF_FFEF_FFFF_FFFF).isOperational)
    #expect(!NodeID(0xFFFF_FFF0_0000_0000).isOperational && !NodeID.group(1).isOperational)
    let tag = CASEAuthenticatedTag(0xABCD_0002)
    #expect(NodeID.tag(tag) == 0xFFFF_FFFD_ABCD_0002 && NodeID.tag(tag).isTag && !NodeID.tag(tag).isOperational)
    #expect(tag.identifier == 0xABCD && tag.version == 2)
    #expect(NodeID.group(0x1234) == 0xFFFF_FFFF_FFFF_1234)
  }

  @Test func matchesWildcards() {
    let path = ConcreteAttributePath(1, 6, 0)
    #expect(AttributePath().matches(path) && AttributePath().isWildcard)
    #expect(AttributePath(cluster: 6).matches(path) && AttributePath(endpoint: 1, attribute: 0).matches(path))
    #expect(!AttributePath(endpoint: 2).matches(path) && !AttributePath(cluster: 8).matches(path))
    #expect(!AttributePath(attribute: 1).matches(path))
    let concrete = AttributePath(endpoint: 1, cluster: 6, attribute: 0)
    #expect(concrete.matches(path) && !concrete.isWildcard)
  }

  @Test func sortsPathsByEndpointClusterAndAttribute() {
    let sorted: [ConcreteAttributePath] = [
      .init(0, 9, 9), .init(1, 6, 0), .init(1, 6, 1), .init(1, 8, 0), .init(2, 0, 0),
    ]
    #expect(sorted.reversed().sorted() == sorted)
    #expect(ClusterPath(0, 9) < ClusterPath(1, 0))
  }
}
