package io.github.iree4j.spring.serving;

/** The inference requests of one protocol in progress. A bean, for meters. Safe from any thread. */
public interface ServingLoad {
    /**
     * Names the protocol.
     *
     * @return {@code http} or {@code grpc}
     */
    String protocol();

    /**
     * Returns how many requests are computed.
     *
     * @return the number at some moment, at most {@code iree.serving.max-concurrent-requests}
     */
    int computed();

    /**
     * Returns how many requests wait to be computed.
     *
     * @return the number at some moment
     */
    int waiting();
}
