internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import MatterProtocol

// Devices that measure, heat and cool the air of their room.
extension ClusterServer {
  /// The time between two measurements.
  private static let measuringInterval = Duration.seconds(30)
  private static let measuring = TimerID.custom(0)

  /// Connects a thermostat, or a fan in the mode Auto, with the air of its room.
  func connected(toRoomOf device: DeviceDefinition, _ clock: BehaviorClock) -> Self {
    switch id {
    case Thermostat.id where device.kind.conditionsRoom: conditioning(device, clock.rooms)
    case FanControl.id where device.kind == .fan: following(device.air, clock.rooms)
    default: self
    }
  }

  private func conditioning(_ device: DeviceDefinition, _ rooms: Rooms) -> Self {
    let (room, climate, name) = (device.air, device.climate.withPowers(of: device.kind), device.uniqueID)
    let (heating, cooling) = (climate.heating ?? 0, climate.cooling ?? 0)
    let isHeatPump = device.kind == .heatPump
    let heat: @Sendable (inout ServerContext) -> Void = { context in
      let relays = context[Thermostat.thermostatRunningState]
      // The opening of a radiator's valve.
      let opening = context[scratch: BlockedValve.self]?.share ?? context.value(Thermostat.piHeatingDemand)
      let heatingPower = opening.map { heating * Int($0) / 100 } ?? (relays.contains(.heat) ? heating : 0)
      let (now, power) = (context.now, relays.contains(.cool) ? -cooling : heatingPower)
      var share = 1.0
      if isHeatPump, let outdoor = rooms.withAir(of: room, { $0?.outdoor }) {
        share = HeatPumpEnergy.take(climate.electricalPower(for: power, outdoor: outdoor), in: &context)
      }
      rooms.withAir(of: room) { $0?.setPower(Int(Double(power) * share), of: name, at: now) }
    }
    let measure: @Sendable (inout ServerContext) -> Void = { context in
      let now = context.now
      // A bridged device without power is started again when its power returns.
      guard context.hasPower else { return }
      let air = rooms.withAir(of: room) { air in
        air?.advance(to: now)
        return air
      }
      if let air {
        if context[Thermostat.outdoorTemperature] != .null {
          context[Thermostat.outdoorTemperature] = .value(Self.encoded(air.outdoor))
        }
        let hasFailed = context[scratch: SensorFailure.self] != nil
        // A thermostat shows tenths of a degree.
        let shown = Self.encoded((air.temperature * 10).rounded() / 10)
        context.call(ThermostatServer.measured, hasFailed ? Nullable<Int16>.null : .value(shown))
      }
      // The state may be older than the air of the room.
      heat(&context)
      context.schedule(Self.measuring, at: now + Self.measuringInterval)
    }
    let server: ClusterServer
    switch device.kind {
    case .radiatorThermostat:
      server = onChange(Thermostat.piHeatingDemand, heat)
        .onPart("valve", ["free", "blocked"]) { context, state in
          let demand = context[Thermostat.piHeatingDemand]
          context[scratch: BlockedValve.self] = state == "blocked" ? BlockedValve(share: demand) : nil
          heat(&context)
        }
    case .heatPump: server = HeatPumpEnergy.adjusting(self, heat)
    default: server = self
    }
    return
      server
      .onStart { context in
        let (now, inside) = (context.now, context[Thermostat.localTemperature].wrapped ?? 2000)
        let outdoor = context[Thermostat.outdoorTemperature].wrapped ?? 1000
        rooms.withAir(of: room) { air in
          air =
            air
            ?? RoomAir(climate, temperature: Double(inside) / 100, outdoor: Double(outdoor) / 100, at: now)
        }
        measure(&context)
      }
      .onTimer(Self.measuring, measure)
      .onPowerLoss { context in rooms.endEffects(of: [name], at: context.now) }
      .onChange(Thermostat.thermostatRunningState, heat)
      .onAct(Thermostat.localTemperature) { context, temperature in
        context[scratch: SensorFailure.self] = temperature == .null ? SensorFailure() : nil
        if let temperature = temperature.wrapped {
          // The value is calibrated.
          let inside = Double(temperature) / 100 - Double(context[Thermostat.localTemperatureCalibration]) / 10
          let now = context.now
          rooms.withAir(of: room) { $0?.setTemperature(inside, at: now) }
        }
        measure(&context)
      }
      .onAct(Thermostat.outdoorTemperature) { context, temperature in
        context[Thermostat.outdoorTemperature] = temperature
        let now = context.now
        if let outdoor = temperature.wrapped {
          rooms.withAir(of: room) { $0?.setOutdoor(Double(outdoor) / 100, at: now) }
        }
      }
  }

  /// Lets the fan run the faster in the mode Auto, the warmer the room is: from 22 °C to 30 °C.
  private func following(_ room: String, _ rooms: Rooms) -> Self {
    let measure: @Sendable (inout ServerContext) -> Void = { context in
      if let temperature = rooms.temperature(of: room, at: context.now) {
        context.call(FanControlServer.automatic, UInt8(max(0, min(100, (temperature - 22) / 8 * 100))))
      }
      context.schedule(Self.measuring, at: context.now + Self.measuringInterval)
    }
    return onStart(measure).onTimer(Self.measuring, measure)
  }

  private static func encoded(_ temperature: Double) -> Int16 {
    Int16(max(-27_315, min(32_767, (temperature * 100).rounded())))
  }
}

/// Present while the valve of a radiator does not move: its opening in percent.
private struct BlockedValve: Sendable { let share: UInt8 }

/// Present while the temperature sensor of a thermostat fails.
private struct SensorFailure: Sendable {}

extension DeviceDefinition {
  /// The name of the air around the device: that of its room, or one of its own.
  var air: String { room ?? uniqueID }
}
