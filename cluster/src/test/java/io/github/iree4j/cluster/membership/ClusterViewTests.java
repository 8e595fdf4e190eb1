package io.github.iree4j.cluster.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import java.nio.ByteBuffer;
import java.util.Arrays;
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
    void reportsSurviveEncoding() {
        for (Set<Long> failed : List.of(Set.<Long>of(), Set.of(-1L), Set.of(Long.MIN_VALUE, 0L, Long.MAX_VALUE))) {
            FailureReport report = new FailureReport(failed.size() - 2L, failed);
            ByteBuffer bytes = ByteBuffer.wrap(report.encode());
            assertThat(FailureReport.decode(bytes)).isEqualTo(report);
        }
    }

    @Test
    void damagedReportsAreRefused() {
        for (int length : new int[] {0, 1, 7, 9, 15, 8 * 1025 + 1, 8 * 1026, 1 << 20}) {
            assertThatThrownBy(() -> FailureReport.decode(ByteBuffer.allocate(length)))
                    .isInstanceOf(IreeException.class)
                    .hasMessageContaining(length + " bytes are not a report");
        }
        assertThat(FailureReport.decode(ByteBuffer.allocate(8 * 1025)).failed()).containsExactly(0L);
    }
}
