package io.github.iree4j.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.hal.spi.DeviceOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DeviceAddressTests {

    private static ClusterMember member(int machine, String host, int port) {
        return new ClusterMember(new NodeIdentity(7, machine, 1, machine + 1), host, port);
    }

    @ParameterizedTest
    @CsvSource({
        "1/local, 1, '', 0, local",
        "255, 255, '', 0, ''",
        "node1.vision.example/gpu/0, -1, node1.vision.example, 0, gpu/0",
        "10.0.0.7:7600/local, -1, 10.0.0.7, 7600, local",
        "[fe80::1]:7600/local, -1, fe80::1, 7600, local",
        "1234, -1, 1234, 0, ''"
    })
    void anAddressHasANodeAndADevice(String text, int machine, String host, int port, String device) {
        assertThat(DeviceAddress.parse(text)).isEqualTo(new DeviceAddress(machine, host, port, device));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/local", "256/local", "7:7600/local", "host:70000/local"})
    void addressesOfNoNodeAreRefused(String text) {
        assertThatThrownBy(() -> DeviceAddress.parse(text)).hasMessageContaining("cluster://1/local");
    }

    @Test
    void aSingleSlashIsRefusedWithTheRightForm() {
        assertThatThrownBy(() -> DeviceAddress.parse("cluster:/1/local")) // as the runtime passes cluster:/1/local
                .hasMessageContaining("'cluster:/1/local' is not a device of another node; it is cluster://1/local");
    }

    @Test
    void aNodeIsNamedByItsMachineIndexOrByItsAdvertisedHost() {
        ClusterMember node = member(3, "node3.example", 7603);
        assertThat(DeviceAddress.parse("3/local").isAt(node)).isTrue();
        assertThat(DeviceAddress.parse("4/local").isAt(node)).isFalse();
        assertThat(DeviceAddress.parse("NODE3.example/local").isAt(node)).isTrue();
        assertThat(DeviceAddress.parse("node3.example:7603/local").isAt(node)).isTrue();
        assertThat(DeviceAddress.parse("node3.example:7600/local").isAt(node)).isFalse();
        assertThat(ClusterDevices.isAt("cluster://3", node)).isTrue();
        assertThat(ClusterDevices.isAt("cluster://", node)).isFalse();
        assertThat(ClusterDevices.isAt("local", node)).isFalse();
    }

    @Test
    void withoutANodeTheDriverExplainsHowToGetANode() {
        assertThatThrownBy(() -> new ClusterDriverProvider().open("1/local", DeviceOptions.DEFAULTS))
                .hasMessageContaining("cluster://1/local")
                .hasMessageContaining("iree.cluster.enabled=true");
        assertThatThrownBy(() -> new ClusterDriverProvider().open("cluster", DeviceOptions.DEFAULTS))
                .hasMessageContaining("cluster://1/local");
    }
}
