package io.github.iree4j.cluster.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The contract of every store. */
abstract class IdentityStoreContract {

    static final Duration LEASE = Duration.ofSeconds(30);

    /** Opens a store on the data of earlier stores of this test, as another node would. */
    abstract IdentityStore open();

    /** How many machine indices the stores of this test have. */
    abstract int machines();

    /** Lets a lease end as if the holder had not renewed. */
    abstract void letEnd(IdentityLease lease);

    /** The number of sessions per machine index used before the test begins. */
    int usedAtStart() {
        return 0;
    }

    static IreeException failure(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        IreeException failure = catchThrowableOfType(IreeException.class, call);
        assertThat(failure).isNotNull();
        return failure;
    }

    @Test
    void noSlotAndNoIncarnationIsGrantedTwice() {
        long seed = Long.getLong("iree4j.test.seed", System.nanoTime());
        System.out.println("random: identity seed " + seed);
        Random random = new Random(seed);
        Set<Integer> slots = new HashSet<>();
        Set<Long> incarnations = new HashSet<>();
        Map<Integer, Long> latest = new HashMap<>();
        Map<Integer, IdentityLease> held = new HashMap<>();
        Long clusterId = null;
        for (int round = 0; round < 200; round++) {
            if (held.size() == machines() || !held.isEmpty() && random.nextInt(3) == 0) {
                List<Integer> machines = new ArrayList<>(held.keySet());
                IdentityLease lease = held.remove(machines.get(random.nextInt(machines.size())));
                if (random.nextBoolean()) {
                    lease.release();
                } else {
                    letEnd(lease);
                }
                continue;
            }
            IdentityStore store = open();
            IdentityLease lease = store.acquire(LEASE);
            NodeIdentity identity = lease.identity();
            assertThat(held.put(identity.machine(), lease)).as("%s", identity).isNull();
            assertThat(slots.add(identity.machine() << 8 | identity.session()))
                    .as("slot of %s", identity)
                    .isTrue();
            assertThat(incarnations.add(identity.incarnation()))
                    .as("incarnation of %s", identity)
                    .isTrue();
            assertThat(identity.incarnation()).isGreaterThan(latest.getOrDefault(identity.machine(), 0L));
            latest.put(identity.machine(), identity.incarnation());
            clusterId = clusterId == null ? identity.clusterId() : clusterId;
            assertThat(identity.clusterId()).isEqualTo(clusterId);
            lease.renew();
        }
        held.values().forEach(IdentityLease::release);
    }

    @Test
    void sessionsEndWithAnErrorAndDoNotWrap() {
        for (int i = 0; i < (255 - usedAtStart()) * machines(); i++) {
            open().acquire(LEASE).release();
        }
        for (int i = 0; i < 2; i++) {
            IreeException failure = failure(() -> open().acquire(LEASE));
            assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            assertThat(failure).hasMessageContaining("255").hasMessageContaining("iree.cluster.name");
        }
    }

    @Test
    void anEndedLeaseIsNotRenewed() {
        IdentityLease ended = open().acquire(LEASE);
        letEnd(ended);
        assertThat(failure(ended::renew).code()).isEqualTo(StatusCode.ABORTED);
        IdentityLease next = open().acquire(LEASE);
        assertThat(failure(ended::renew).code()).isEqualTo(StatusCode.ABORTED);
        ended.release();
        next.renew();
        next.release();
    }

    @Test
    void releasingTwiceDoesNotReleaseTheNextHolder() {
        IdentityLease first = open().acquire(LEASE);
        first.release();
        List<IdentityLease> held = new ArrayList<>();
        for (int i = 0; i < machines(); i++) {
            held.add(open().acquire(LEASE));
        }
        first.release();
        for (IdentityLease each : held) {
            each.renew();
        }
        assertThat(failure(() -> open().acquire(LEASE)).code())
                .isIn(StatusCode.RESOURCE_EXHAUSTED, StatusCode.ALREADY_EXISTS);
        held.forEach(IdentityLease::release);
    }
}
