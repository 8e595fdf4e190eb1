package io.github.iree4j.spring.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A container may fail to say whether a client has gone; the other clients are looked at all the same. */
class UnknownClientTests {
    private final Queue<Runnable> looks = new ArrayDeque<>();
    private final ClientWatches watches = new ClientWatches(looks::add);

    @Test
    void aFailedLookAtAClientEndsNoLookAtOthers() {
        AtomicBoolean gone = new AtomicBoolean();
        List<String> ended = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int client = i;
            watches.begin(
                    () -> {
                        if (client == 1) {
                            throw new IllegalStateException("recycled");
                        }
                        return gone.get();
                    },
                    () -> ended.add("client " + client));
        }
        looks.remove().run();
        assertThat(ended).isEmpty();
        gone.set(true);
        looks.remove().run();
        assertThat(ended).containsExactlyInAnyOrder("client 0", "client 2");
    }
}
