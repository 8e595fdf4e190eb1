package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Devices of other machines among the devices of a runtime. */
class NamedDevicesTest {
    private static final IreeException GONE = IreeException.of(StatusCode.UNAVAILABLE, "node 7 is gone");

    private final VirtualDevice own = device("own");
    private final List<VirtualDevice> opened = new ArrayList<>();
    private NamedDevices devices = devices(source -> open());

    private static VirtualDevice device(String id) {
        return VirtualDevice.builder().id(id).build();
    }

    private Device open() {
        VirtualDevice device = device("far@" + opened.size());
        opened.add(device);
        return device;
    }

    private NamedDevices devices(Function<DeviceSource, Device> opening) {
        return new NamedDevices(
                Map.of("local", own),
                List.of(new DeviceSource(
                        "far", "cluster://7", DeviceSource.of("x").options())),
                opening);
    }

    @AfterEach
    void close() {
        devices.close();
    }

    @Test
    void aDeviceIsOpenedOnceAndOnlyWhenNamed() {
        assertThat(devices.select(List.of())).containsExactly(own);
        assertThat(devices.open()).containsExactly(own);
        assertThat(devices.find("far")).isEmpty();
        assertThat(devices.isRemote("far")).isTrue();
        assertThat(devices.isRemote("local")).isFalse();
        List<Device> seen = new ArrayList<>();
        devices.watch(seen::add);
        assertThat(devices.select(List.of("far", "local"))).containsExactly(devices.require("far"), own);
        assertThat(opened).hasSize(1);
        assertThat(devices.open()).containsExactly(own, opened.getFirst());
        assertThat(devices.select(List.of())).as("of programs without a name").containsExactly(own);
        assertThat(seen).containsExactly(own, opened.getFirst());
        assertThat(devices.nameOf(opened.getFirst())).isEqualTo("far");
        assertThat(devices.find("far@0")).containsSame(opened.getFirst());
    }

    @Test
    void aLostDeviceIsReplacedWhenNamedAgainAndClosedWhenUnused() {
        devices.require("far");
        VirtualDevice first = opened.getFirst();
        first.lose(GONE);
        assertThat(devices.find("far")).as("until it is wanted").containsSame(first);
        Device second = devices.require("far");
        assertThat(second).isNotSameAs(first);
        assertThat(devices.open()).containsExactly(own, second);
        assertThat(devices.nameOf(first)).isEqualTo("far");
        devices.closeReplaced(device -> device == first);
        assertThat(devices.nameOf(first)).isEqualTo("far");
        devices.closeReplaced(_ -> false);
        assertThat(devices.nameOf(first)).as("closed, and forgotten").isEqualTo("far@0");
        assertThat(devices.require("far")).isSameAs(second);
    }

    @Test
    void anUnopenableDeviceIsTriedAgain() {
        devices = devices(source -> {
            if (opened.isEmpty()) {
                opened.add(device("never"));
                throw GONE;
            }
            return open();
        });
        assertThatThrownBy(() -> devices.require("far")).isSameAs(GONE);
        assertThat(devices.find("far")).isEmpty();
        assertThat(devices.require("far").id()).isEqualTo("far@1");
        opened.getFirst().close();
    }

    @Test
    void aDeviceOpenedWhileTheRuntimeClosesIsClosed() {
        devices = devices(source -> {
            devices.close();
            return open();
        });
        assertThatThrownBy(() -> devices.require("far")).hasMessageContaining("the runtime is closed");
        assertThat(opened.getFirst().failure()).isPresent();
    }

    @Test
    void anUnknownNameIsAnsweredWithTheNamesOfAllMachines() {
        assertThatThrownBy(() -> devices.require("gpu")).hasMessageContaining("[local, far]");
    }
}
