internal import MatterModel

extension DeviceKind {
  public static let laundryWasher = DeviceKind(
    name: "laundry washer", aliases: ["washing machine", "washer"], deviceType: 0x0073, productID: 0x8050,
    summary: "a washing machine with phases, modes, temperatures and spin speeds")
  public static let robotVacuum = DeviceKind(
    name: "robotic vacuum cleaner", aliases: ["robot vacuum", "vacuum", "vacuum cleaner", "RVC"], deviceType: 0x0074,
    productID: 0x8051, summary: "a robot that cleans areas, gets stuck, and returns to its charger")
  public static let dishwasher = DeviceKind(
    name: "dishwasher", aliases: ["dish washer"], deviceType: 0x0075, productID: 0x8052,
    summary: "a dishwasher with phases, modes, temperatures and alarms")
  public static let laundryDryer = DeviceKind(
    name: "laundry dryer", aliases: ["dryer", "tumble dryer"], deviceType: 0x007C, productID: 0x8053,
    summary: "a dryer with phases, modes, temperatures and dryness levels")

  static let appliances: [DeviceKind] = [.laundryWasher, .robotVacuum, .dishwasher, .laundryDryer]
}
