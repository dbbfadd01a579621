"""What survives compaction: numbered files, each with a rule of writing. Decides and looks; `Memory` seals and stores."""
