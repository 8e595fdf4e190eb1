package io.github.iree4j.cluster.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ClusterViewTests {

    static ClusterMember member(int incarnation) {
        return new ClusterMember(new NodeIdentity(-5, incarnation, 1, incarnation), "host" + incarnation, 7600);
    }

    static List<ClusterMember> members(int... incarnations) {
        return Arrays.stream(incarnations).mapToObj(ClusterViewTests::member).toList();
    }

    @Test
    void membersSurviveEncoding() {
        for (ClusterMember each : List.of(
                member(1),
                new ClusterMember(new NodeIdentity(Long.MIN_VALUE, 255, 255, Long.MAX_VALUE), "h".repeat(200), 65535),
                new ClusterMember(new NodeIdentity(0, 0, 1, 1), "fe80::1%eth0", 1))) {
            assertThat(ClusterMember.decode(each.encode())).isEqualTo(each);
            assertThat(each.encode()).hasSizeLessThanOrEqualTo(220);
        }
    }

    @Test
    void damagedMembersAreRefused() {
        byte[] intact = member(3).encode();
        for (int length = 0; length < 21; length++) {
            byte[] part = Arrays.copyOf(intact, length);
            assertThatThrownBy(() -> ClusterMember.decode(part)).isInstanceOf(IreeException.class);
        }
        Random random = new Random(1);
        for (int i = 0; i < 2000; i++) {
            byte[] noise = new byte[random.nextInt(260)];
            random.nextBytes(noise);
            try {
                ClusterMember.decode(noise);
            } catch (IreeException e) {
                assertThat(e).hasMessageContaining("not a member");
            }
        }
    }

    @Test
    void signsOfLifeSurviveEncoding() {
        List<InetSocketAddress> many = new ArrayList<>();
        Set<Long> failed = new HashSet<>();
        for (int i = 0; i < Heartbeat.MOST; i++) {
            many.add(InetSocketAddress.createUnresolved("ü".repeat(1 + i % 100), 1 + i));
            failed.add((long) i * Integer.MAX_VALUE);
        }
        for (Heartbeat each : List.of(
                new Heartbeat(true, 5, List.of(), Standing.PEACE),
                new Heartbeat(
                        false,
                        5,
                        List.of(InetSocketAddress.createUnresolved("::1", 65535)),
                        new Standing(Set.of(-1L), 0, false)),
                new Heartbeat(false, 5, many, new Standing(failed, Heartbeat.MOST, true)))) {
            assertThat(Heartbeat.decode(each.encode())).isEqualTo(each);
        }
    }

    @Test
    void damagedSignsOfLifeAreRefused() {
        byte[] intact = new Heartbeat(
                        false,
                        5,
                        List.of(InetSocketAddress.createUnresolved("host", 7600)),
                        new Standing(Set.of(1L, 2L), 3, true))
                .encode();
        for (int length = 0; length < intact.length; length++) {
            byte[] part = Arrays.copyOf(intact, length);
            assertThatThrownBy(() -> Heartbeat.decode(part)).isInstanceOf(IreeException.class);
        }
        assertThatThrownBy(() -> Heartbeat.decode(Arrays.copyOf(intact, intact.length + 1)))
                .hasMessageContaining("not a sign of life");
        Random random = new Random(2);
        for (int i = 0; i < 20_000; i++) {
            byte[] noise = random.nextBoolean() ? intact.clone() : new byte[random.nextInt(60)];
            for (int change = 0; change < 3 && noise.length > 0; change++) {
                noise[random.nextInt(noise.length)] = (byte) random.nextInt();
            }
            try {
                Heartbeat.decode(noise).encode();
            } catch (IreeException e) {
                assertThat(e).hasMessageContaining("not a sign of life");
            }
        }
    }
}
