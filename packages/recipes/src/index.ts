export { type Slot, type TakeSlotOptions, takeSlot } from './take-slot'
