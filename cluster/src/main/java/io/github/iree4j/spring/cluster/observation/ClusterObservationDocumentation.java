package io.github.iree4j.spring.cluster.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/** Documents the observations of a cluster. */
public enum ClusterObservationDocumentation implements ObservationDocumentation {
    /** A command of another node whose submitter is traced: from when all that it waits for is reached to its end. */
    COMMAND {
        @Override
        public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
            return DefaultCommandObservationConvention.class;
        }

        @Override
        public KeyName[] getLowCardinalityKeyNames() {
            return LowCardinality.values();
        }

        @Override
        public KeyName[] getHighCardinalityKeyNames() {
            return HighCardinality.values();
        }

        @Override
        public String getPrefix() {
            return "iree";
        }
    };

    /** Tags of metrics and spans. */
    public enum LowCardinality implements KeyName {
        /** What it does: execute, fill, copy, upload, download or update. */
        COMMAND("command"),
        /** Id of the device. */
        DEVICE("device"),
        /** Machine index of the node that submitted it. */
        MACHINE("machine"),
        /** Status code of its end, such as OK or ABORTED. */
        OUTCOME("outcome");

        private final String key;

        LowCardinality(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return key;
        }
    }

    /** Tags of spans only. */
    public enum HighCardinality implements KeyName {
        /** The node that submitted it. */
        PEER("iree.peer"),
        /** Index of the queue. */
        QUEUE("iree.queue"),
        /** Number of its steps. */
        STEPS("iree.steps"),
        /** The timeline of the submitter under which the queue runs here. */
        LANE("iree.lane"),
        /** What it raises that timeline to. */
        LANE_EPOCH("iree.lane.epoch");

        private final String key;

        HighCardinality(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return key;
        }
    }
}
