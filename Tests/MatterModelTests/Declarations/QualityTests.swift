import MatterModel
import MatterTLV
import Testing

struct PrivilegeTests {
  /// The hierarchy of privileges. Matter Core § 6.6.5.
  @Test func grantsLowerPrivileges() {
    let grants: [Privilege: Set<Privilege>] = [
      .view: [.view],
      .proxyView: [.proxyView, .view],
      .operate: [.operate, .view],
      .manage: [.manage, .operate, .view],
      .administer: [.administer, .manage, .operate, .view, .proxyView],
    ]
    let all: [Privilege] = [.view, .proxyView, .operate, .manage, .administer]
    for holder in all {
      for needed in all {
        #expect(holder.grants(needed) == grants[holder]?.contains(needed), "\(holder) for \(needed)")
      }
    }
  }
}

struct ConstraintTests {
  @Test func checksRanges() {
    let range = Constraint.range(-2...5)
    #expect(range.allows(Int8(-2).tlv) && range.allows(UInt8(5).tlv) && range.allows(Nullable<UInt8>.null.tlv))
    #expect(!range.allows(Int8(-3).tlv) && !range.allows(UInt8(6).tlv) && !range.allows(UInt64.max.tlv))
    #expect(!range.allows("3".tlv))
  }

  /// Lengths are in bytes, not characters.
  @Test func checksLengths() {
    let length = Constraint.length(2...4)
    #expect(length.allows("éé".tlv) && length.allows(OctetString([1, 2]).tlv))
    #expect(!length.allows("ééé".tlv) && !length.allows("a".tlv) && !length.allows(OctetString([1]).tlv))
    #expect(!length.allows(UInt8(3).tlv))
  }

  @Test func checksEntryCounts() {
    #expect(Constraint.entries(0...1).allows([UInt8(1)].tlv) && Constraint.entries(0...1).allows([UInt8]().tlv))
    #expect(!Constraint.entries(0...1).allows([UInt8(1), 2].tlv))
    #expect(!Constraint.entries(0...1).allows([0x16]))
    #expect(Constraint.entries(2...Int.max).allows([UInt8(1), 2].tlv))
    #expect(!Constraint.entries(2...Int.max).allows([UInt8(1)].tlv))
    #expect(Constraint.none.allows([0x14]))
  }
}
