package io.github.iree4j.tools;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.NativeCode;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.status.IreeException;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code iree4j devices}: lists available drivers and devices, and why others are unavailable. */
@Command(
        name = "devices",
        description = "Lists drivers and devices, with the executable formats of each device.",
        mixinStandardHelpOptions = true)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class DevicesCommand implements Runnable {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    DevicesCommand() {}

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        List<DriverProvider> drivers = DriverProvider.installed();
        if (drivers.isEmpty()) {
            out.println("no drivers are installed");
        }
        for (DriverProvider driver : drivers) {
            Availability availability = driver.availability();
            if (!availability.available()) {
                out.println("%s: not available: %s".formatted(driver.name(), availability.reason()));
                continue;
            }
            out.println(driver.name() + ":");
            for (DeviceInfo device : driver.devices()) {
                out.println("  --device=%s  %s".formatted(device.id(), device.name()));
                try (IreeRuntime runtime = IreeRuntime.builder()
                        .device(driver.name() + "://" + device.id())
                        .build()) {
                    List<String> formats = runtime.device().executableFormats();
                    out.println("    executables: " + (formats.isEmpty() ? "none" : String.join(", ", formats)));
                    if (driver.name().equals("local")) {
                        NativeCode.unavailabilityCause()
                                .ifPresent(cause -> out.println("    no compiled code: " + cause.getMessage()));
                    }
                } catch (IreeException e) {
                    out.println("    cannot be opened: " + e);
                }
            }
        }
    }
}
