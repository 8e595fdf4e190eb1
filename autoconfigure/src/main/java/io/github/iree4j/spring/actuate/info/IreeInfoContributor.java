package io.github.iree4j.spring.actuate.info;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.NativeCode;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.monitor.RuntimeVersions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;

/** Versions, drivers and devices, under {@code iree}. */
public final class IreeInfoContributor implements InfoContributor {

    private final IreeRuntime runtime;

    /**
     * Creates a contributor for a runtime.
     *
     * @param runtime the runtime whose devices to name
     */
    public IreeInfoContributor(IreeRuntime runtime) {
        this.runtime = runtime;
    }

    @Override
    public void contribute(Info.Builder builder) {
        Map<String, Object> iree = new LinkedHashMap<>();
        RuntimeVersions versions = runtime.monitor().versions();
        iree.put("version", versions.runtime());
        iree.put("bytecode", versions.bytecode());
        iree.put("hal", versions.hal());
        iree.put(
                "nativeCode",
                NativeCode.unavailabilityCause()
                        .map(cause -> "not available: " + cause.getMessage())
                        .orElse("available"));
        Map<String, String> drivers = new TreeMap<>();
        for (DriverProvider driver : DriverProvider.installed()) {
            Availability availability = driver.availability();
            drivers.put(
                    driver.name(), availability.available() ? "available" : "not available: " + availability.reason());
        }
        iree.put("drivers", drivers);
        Map<String, String> devices = new LinkedHashMap<>();
        for (Device device : runtime.devices()) {
            devices.put(
                    runtime.monitor().devices().nameOf(device), device.info().name());
        }
        iree.put("devices", devices);
        iree.put("workers", runtime.monitor().workers().executor().workers());
        builder.withDetail("iree", iree);
    }
}
