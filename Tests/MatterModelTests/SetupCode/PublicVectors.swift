@testable import MatterModel

/// Setup codes of the Matter SDK, July 2025: all QR codes of its certification tests, unit tests and documents, and all
/// manual codes of its certification tests and unit tests. The expected values were computed independently of this
/// code.
enum PublicVectors {
  struct QR: Sendable {
    let code: String
    let vendorID, productID: UInt16
    let flow: CommissioningFlow
    let discovery: UInt8
    let discriminator: UInt16
    let passcode: UInt32
    var version: UInt8 = 0
    var serialNumber: String?

    init(
      _ code: String, _ vendorID: UInt16, _ productID: UInt16, _ flow: CommissioningFlow, _ discovery: UInt8,
      _ discriminator: UInt16, _ passcode: UInt32, version: UInt8 = 0, serialNumber: String? = nil
    ) {
      (self.code, self.vendorID, self.productID, self.flow) = (code, vendorID, productID, flow)
      (self.discovery, self.discriminator, self.passcode) = (discovery, discriminator, passcode)
      (self.version, self.serialNumber) = (version, serialNumber)
    }
  }

  static let qr: [QR] = [
    QR("MT:-24J029Q000YH24KF10", 0xFFF1, 0x8001, .custom, 4, 3840, 66666666),
    QR("MT:-24J029Q004ORE3N610", 0xFFF1, 0x8001, .custom, 4, 3840, 55555555),
    QR("MT:-24J029Q004QG46Y900", 0xFFF1, 0x8001, .custom, 4, 3840, 12345678),
    QR("MT:-24J029Q008E.Q2QZ00", 0xFFF1, 0x8001, .custom, 4, 3840, 44444444),
    QR("MT:-24J029Q00C4912TQ00", 0xFFF1, 0x8001, .custom, 4, 3840, 33333333),
    QR("MT:-24J029Q00GWID1WH00", 0xFFF1, 0x8001, .custom, 4, 3840, 22222222),
    QR("MT:-24J029Q00KA0648G00", 0xFFF1, 0x8001, .custom, 4, 3840, 20202021),
    QR(
      "MT:-24J029Q00KA064IJ3P0IXZB0DK5N1K8SQ1RYCU1-A40", 0xFFF1, 0x8001, .custom, 4, 3840, 20202021,
      serialNumber: "1234567890"),
    QR("MT:-24J029Q00KMSP0Z800", 0xFFF1, 0x8001, .custom, 4, 3840, 11111111),
    QR("MT:-24J029Q00OC0000000", 0xFFF1, 0x8001, .custom, 4, 3840, 0),
    QR("MT:-24J029Q00QPQ36B420", 0xFFF1, 0x8001, .custom, 4, 3840, 99999999),
    QR("MT:-24J029Q00UF-F5EX10", 0xFFF1, 0x8001, .custom, 4, 3840, 88888888),
    QR("MT:-24J029Q00Y58S4HO10", 0xFFF1, 0x8001, .custom, 4, 3840, 77777777),
    QR("MT:-24J029Q00YX018EW10", 0xFFF1, 0x8001, .custom, 4, 3840, 87654321),
    QR("MT:-24J042C00KA0648G00", 0xFFF1, 0x8001, .standard, 2, 3840, 20202021),
    QR(
      "MT:-24J042C00KA064IJ3P0IXZB0DK5N1K8SQ1RYCU1-A40", 0xFFF1, 0x8001, .standard, 2, 3840, 20202021,
      serialNumber: "1234567890"),
    QR("MT:-24J048N01KA0648G00", 0xFFF1, 0x8001, .custom, 2, 3841, 20202021),
    QR("MT:-24J04QI14KA0648G00", 0xFFF1, 0x8001, .standard, 4, 3844, 20202021),
    QR("MT:-24J0AFN00KA0648G00", 0xFFF1, 0x8001, .standard, 4, 3840, 20202021),
    QR("MT:-24J0AFN00KG3-2W000", 0xFFF1, 0x8001, .standard, 4, 3840, 1060588),
    QR("MT:-24J0ALY010O0648G00", 0xFFF1, 0x8001, .custom, 4, 3841, 20202022),
    QR("MT:-24J0ALY01KA0648G00", 0xFFF1, 0x8001, .custom, 4, 3841, 20202021),
    QR("MT:-24J0CEK01KA0648G00", 0xFFF1, 0x8001, .standard, 2, 3841, 20202021),
    QR("MT:-24J0EZA10KA0648G00", 0xFFF1, 0x8001, .custom, 8, 3840, 20202021),
    QR("MT:-24J0IJ910KA0648G00", 0xFFF1, 0x8001, .userIntent, 8, 3840, 20202021),
    QR("MT:-24J0IRV01A7TB7E700", 0xFFF1, 0x8001, .standard, 4, 3841, 9204808),
    QR("MT:-24J0IRV01KA0648G00", 0xFFF1, 0x8001, .standard, 4, 3841, 20202021),
    QR("MT:-24J0IRV01WCCN68G00", 0xFFF1, 0x8001, .standard, 4, 3841, 20212022),
    QR("MT:-24J0KCZ16750648G00", 0xFFF1, 0x8001, .standard, 4, 2222, 20202021),
    QR("MT:-24J0M3810KA0648G00", 0xFFF1, 0x8001, .standard, 8, 3840, 20202021),
    QR("MT:-24J0Q1212-10648G00", 0xFFF1, 0x8001, .standard, 4, 1234, 20202021),
    QR("MT:-24J0Q1212K4.08JP10", 0xFFF1, 0x8001, .standard, 4, 3842, 79101868),
    QR("MT:-24J0YXE00KA0648G00", 0xFFF1, 0x8001, .custom, 2, 3840, 20202021),
    QR("MT:00000CQM0008YV45420", 0x0000, 0x0000, .standard, 4, 3840, 99798268),
    QR("MT:00000CQM0061ZN63N10", 0x0000, 0x0000, .standard, 4, 3840, 76081526),
    QR("MT:00000CQM00KA0648G00", 0x0000, 0x0000, .standard, 4, 3840, 20202021),
    QR("MT:00000EBQ15J.JP67600", 0x0000, 0x0000, .standard, 4, 3501, 7727650),
    QR("MT:034J029Q00KA0648G00", 0xFFF1, 0x8001, .custom, 4, 3840, 20202021, version: 2),
    QR("MT:0A.T0P--00Y0OJ0.510", 0x2345, 0x1023, .custom, 6, 80, 54757432),
    QR("MT:4CT91AFN00YHEE7E300", 0xFFF1, 0x8004, .standard, 4, 3840, 4224352),
    QR("MT:6FCJ142C00KA0648G00", 0xFFF1, 0x8005, .standard, 2, 3840, 20202021),
    QR("MT:8IXS142C00KA0648G00", 0xFFF1, 0x8006, .standard, 2, 3840, 20202021),
    QR("MT:A3L90ARR15G6N57Y900", 0x0001, 0x0001, .userIntent, 4, 3781, 12349876),
    QR("MT:EPX0482F26DAVY09R10", 0x0045, 0x0010, .userIntent, 7, 174, 81235604),
    QR("MT:KSNK4M5113-JPR4UY00", 0x1123, 0x0012, .custom, 2, 3091, 43338551),
    QR("MT:M5L90MP500K64J00000", 0x000C, 0x0001, .standard, 1, 128, 2048),
    QR("MT:M5L90MP500W-GT68D20", 0x000C, 0x0001, .standard, 1, 128, 111111111),
    QR("MT:MZWA6G6026O2XP0II00", 0xFFF3, 0x8098, .custom, 4, 2310, 23005908),
    QR("MT:U9VJ0OMV172PX813210", 0x131B, 0x0002, .standard, 2, 3431, 49910688),
    QR("MT:W0GU2OTB00KA0648G00", 0x235A, 0x4E4B, .standard, 2, 3840, 20202021),
    QR("MT:Y.K90-Q000KA0648G00", 0xFFF1, 0x8000, .standard, 0, 3840, 20202021),
    QR("MT:Y.K900C415W80648G00", 0xFFF1, 0x8000, .standard, 0, 3333, 20202021),
    QR("MT:Y.K9042C00KA0648G00", 0xFFF1, 0x8000, .standard, 2, 3840, 20202021),
    QR("MT:Y.K908OC16750648G00", 0xFFF1, 0x8000, .standard, 0, 2222, 20202021),
    QR("MT:Y.K908OC16N71648G00", 0xFFF1, 0x8000, .standard, 0, 2222, 20202024),
  ]

  /// A code with 1,000 bytes in a vendor element, from TC-DD-1.8.
  static let long = "MT:-24J042C00KA064IJ3P0JFQB7TZ" + String(repeating: unit + "--", count: 33) + "ZL15PKP1CD5T11UXS0"
  private static let unit = "ZL15PKP1CD5T1VFSK1S3DO1ZTZR1UNMJ1DK5N1K8SQ1RYCU1"

  /// The same code truncated at the end of a log line, and as in the label of step 4a, where two characters of each
  /// group are missing.
  static let longBroken = [
    "MT:-24J042C00KA064IJ3P0JFQB7TZ" + String(repeating: unit + "--", count: 16) + "ZL15PKP1CD5T1VFSK1S3DO1Z",
    "MT:-24J0AFN00KA064IJ3P0JFQB7TZ" + String(repeating: unit, count: 33) + "ZL15PKP1CD5T11UXS0",
  ]

  struct Manual: Sendable {
    let code: String
    let discriminator: UInt8
    let passcode: UInt32
    let vendorID, productID: UInt16
  }

  static let manual: [Manual] = [
    Manual(code: "00204800002", discriminator: 0, passcode: 2048, vendorID: 0x0000, productID: 0x0000),
    Manual(code: "10054912339", discriminator: 4, passcode: 20202021, vendorID: 0x0000, productID: 0x0000),
    Manual(code: "14970112338", discriminator: 7, passcode: 20202021, vendorID: 0x0000, productID: 0x0000),
    Manual(code: "20054912334", discriminator: 8, passcode: 20202021, vendorID: 0x0000, productID: 0x0000),
    Manual(code: "20055212333", discriminator: 8, passcode: 20202024, vendorID: 0x0000, productID: 0x0000),
    Manual(code: "21693312337", discriminator: 9, passcode: 20202021, vendorID: 0x0000, productID: 0x0000),
    Manual(code: "23331712339", discriminator: 10, passcode: 20202021, vendorID: 0x0000, productID: 0x0000),
    Manual(code: "24970112330", discriminator: 11, passcode: 20202021, vendorID: 0x0000, productID: 0x0000),
    Manual(code: "30054912331", discriminator: 12, passcode: 20202021, vendorID: 0x0000, productID: 0x0000),
    Manual(code: "31693312339", discriminator: 13, passcode: 20202021, vendorID: 0x0000, productID: 0x0000),
    Manual(code: "33331712336", discriminator: 14, passcode: 20202021, vendorID: 0x0000, productID: 0x0000),
    Manual(code: "34970112332", discriminator: 15, passcode: 20202021, vendorID: 0x0000, productID: 0x0000),
    Manual(code: "402104334209029041311", discriminator: 0, passcode: 54757432, vendorID: 0x2345, productID: 0x1023),
    Manual(code: "403732495800069000166", discriminator: 0, passcode: 81235604, vendorID: 0x0045, productID: 0x0010),
    Manual(code: "619156140465523329207", discriminator: 9, passcode: 23005908, vendorID: 0xFFF3, productID: 0x8098),
    Manual(code: "702871264504387000187", discriminator: 12, passcode: 43338551, vendorID: 0x1123, productID: 0x0012),
    Manual(code: "733317123365521327692", discriminator: 14, passcode: 20202021, vendorID: 0xFFF1, productID: 0x8001),
    Manual(code: "745492075300001000013", discriminator: 14, passcode: 12349876, vendorID: 0x0001, productID: 0x0001),
    Manual(code: "749701123365521327694", discriminator: 15, passcode: 20202021, vendorID: 0xFFF1, productID: 0x8001),
    Manual(code: "749701123365522327692", discriminator: 15, passcode: 20202021, vendorID: 0xFFF2, productID: 0x8001),
    Manual(code: "749701123365523327697", discriminator: 15, passcode: 20202021, vendorID: 0xFFF3, productID: 0x8001),
    Manual(code: "749701123365524327693", discriminator: 15, passcode: 20202021, vendorID: 0xFFF4, productID: 0x8001),
  ]

  /// The reason why a manual code is invalid.
  enum Fault { case checkDigit, version, length, range, passcode, vendor, product }

  static let invalidManual: [(code: String, fault: Fault)] = [
    ("01120767810", .passcode),
    ("01234567890", .checkDigit),
    ("012345678901234567891", .checkDigit),
    ("01234567891", .checkDigit),
    ("02684354589", .checkDigit),
    ("12345678901", .checkDigit),
    ("12345678912", .checkDigit),
    ("123456789123456785671", .checkDigit),
    ("12749875380", .checkDigit),
    ("34915200008", .passcode),
    ("34932240691", .passcode),
    ("34970112331", .checkDigit),
    ("349701123365521327696", .length),
    ("35191106788", .passcode),
    ("35208147474", .passcode),
    ("35467013565", .passcode),
    ("35484054250", .passcode),
    ("35742920344", .passcode),
    ("35759961037", .passcode),
    ("35767807533", .passcode),
    ("36018827124", .passcode),
    ("36294733900", .passcode),
    ("36545753496", .passcode),
    ("749152000065521327698", .passcode),
    ("749322406965521327695", .passcode),
    ("74970112334", .length),
    ("749701123365521000006", .product),
    ("749701123365521327693", .checkDigit),
    ("751911067865521327698", .passcode),
    ("752081474765521327697", .passcode),
    ("754670135665521327694", .passcode),
    ("754840542565521327693", .passcode),
    ("757429203465521327699", .passcode),
    ("757599610365521327695", .passcode),
    ("757678075365521327695", .passcode),
    ("760188271265521327697", .passcode),
    ("762947339065521327695", .passcode),
    ("765457534965521327696", .passcode),
    ("84970112331", .version),
    ("849701123365521327693", .version),
  ]
}
