import MatterModel

extension DeviceKind {
  public static let doorLock = DeviceKind(
    name: "door lock", aliases: ["lock", "smart lock"], deviceType: 0x000A, productID: 0x8020,
    summary: "a motor lock with a keypad, an RFID reader, users and schedules, and a sensor at the door")

  static let locks: [DeviceKind] = [.doorLock]
}
