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

struct ConformanceTests {
  static let a: UInt32 = 1, b: UInt32 = 2, c: UInt32 = 4

  struct Case: Sendable {
    var conformance: Conformance
    /// The feature maps, of the eight possible, with which the element is mandatory, and those with which it is
    /// allowed.
    var requires: Set<UInt32>
    var allows: Set<UInt32>
  }

  static let everything: Set<UInt32> = [0, 1, 2, 3, 4, 5, 6, 7]

  @Test(arguments: [
    Case(conformance: .mandatory, requires: everything, allows: everything),
    Case(conformance: .optional, requires: [], allows: everything),
    Case(conformance: .features(a | b), requires: [1, 2, 3, 5, 6, 7], allows: [1, 2, 3, 5, 6, 7]),
    Case(conformance: .optionalWith(a), requires: [], allows: [1, 3, 5, 7]),
    Case(conformance: .recommended(c), requires: [4, 5, 6, 7], allows: everything),
    Case(conformance: .when(.init(none: c)), requires: [0, 1, 2, 3], allows: [0, 1, 2, 3]),
    Case(conformance: .when(.init(all: a | b)), requires: [3, 7], allows: [3, 7]),
    Case(conformance: .when(.init(any: a | b, none: c)), requires: [1, 2, 3], allows: [1, 2, 3]),
    Case(conformance: .optionalWhen(.init(all: a, none: b)), requires: [], allows: [1, 5]),
    Case(conformance: .whenElseOptionalWith(.init(all: a | b), a), requires: [3, 7], allows: [1, 3, 5, 7]),
  ])
  func evaluatesConformance(_ test: Case) {
    for features in Self.everything {
      #expect(test.conformance.requires(features) == test.requires.contains(features), "\(features)")
      #expect(test.conformance.allows(features) == test.allows.contains(features), "\(features)")
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
    #expect(Constraint.entries(1).allows([UInt8(1)].tlv))
    #expect(!Constraint.entries(1).allows([UInt8(1), 2].tlv))
    #expect(!Constraint.entries(1).allows([0x16]))
    #expect(Constraint.none.allows([0x14]))
  }
}
